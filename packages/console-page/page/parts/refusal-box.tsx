import { failedBy } from '../api/failed.ts'
import { FailedBox } from './failed-box.tsx'

/** What was refused, and what clears it, where it happened. Nothing without an error. */
export function RefusalBox({ error }: { error: unknown }) {
  return error === null || error === undefined ? null : <FailedBox of={failedBy(error)} />
}
