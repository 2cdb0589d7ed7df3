// The screens write money as everything else of the project does.
export { count, microOf, several, usd } from '@gateway/pricing/usd'
