// Screens format money with the shared formatter.
export { count, microOf, several, usd } from '@gateway/pricing/usd'

/** Dollars, as a CSV file has them. Null stays null. */
export const inUsd = (micro: number | null): number | null => (micro === null ? null : micro / 1_000_000)
