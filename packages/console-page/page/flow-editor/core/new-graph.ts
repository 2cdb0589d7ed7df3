// Also of programs that keep flows as files.
export { newGraph } from '@gateway/flow/new-graph'
