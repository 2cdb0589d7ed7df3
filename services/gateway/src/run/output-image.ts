import type { AssetValue, ExecutionRecord } from '@gateway/contracts/execution'

/** The one image that a run's output is, or null: of another output, or of a run that failed (spec 4.3). */
export function outputImage({ status, output }: Pick<ExecutionRecord, 'status' | 'output'>): AssetValue | null {
  if (status !== 'Succeeded' || output === null) return null
  const values = Object.values(output)
  return values.length === 1 && isImage(values[0]) ? values[0] : null
}

function isImage(value: unknown): value is AssetValue {
  if (typeof value !== 'object' || value === null) return false
  const { asset, mimeType } = value as Partial<AssetValue>
  return typeof asset === 'string' && typeof mimeType === 'string' && mimeType.startsWith('image/')
}
