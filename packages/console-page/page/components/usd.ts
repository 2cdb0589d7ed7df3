// Screens format money with the shared formatter.
export { count, microOf, several, usd } from '@gateway/pricing/usd'
