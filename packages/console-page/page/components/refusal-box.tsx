import { failedBy } from '../api/failed.ts'
import { FailedBox } from './failed-box.tsx'

/** An error and how to fix it, or nothing without an error. */
export function RefusalBox({ error }: { error: unknown }) {
  return error === null || error === undefined ? null : <FailedBox of={failedBy(error)} />
}
