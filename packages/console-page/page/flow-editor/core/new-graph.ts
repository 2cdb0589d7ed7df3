// Shared with programs that store flows as files.
export { newGraph } from '@gateway/flow/new-graph'
