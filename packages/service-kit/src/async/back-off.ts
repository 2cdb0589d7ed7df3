export interface BackOffLimits {
  firstMs: number
  /** Infinity where nothing bounds it. */
  maxMs: number
}

/**
 * How long to wait before the next try, in milliseconds: twice as long after each failure, up to `maxMs`.
 * @param failures how often it has failed in a row; without a failure there is nothing to wait for, so 0 and less answer 0
 */
export function backOffMs(failures: number, { firstMs, maxMs }: BackOffLimits): number {
  return failures <= 0 ? 0 : Math.min(firstMs * 2 ** (failures - 1), maxMs)
}
