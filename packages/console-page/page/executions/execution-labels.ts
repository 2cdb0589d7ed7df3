import type { ExecutionStatus, ExecutionSummary } from '@gateway/api/execution'
import type { Tone } from '../components/badge.tsx'

/** User-facing labels of execution states. */
export const executionTones: Record<ExecutionStatus, Tone> = {
  Admitted: 'plain',
  Running: 'warn',
  Succeeded: 'good',
  Failed: 'bad',
  Cancelled: 'plain',
}
export const executionStateLabels: Record<ExecutionStatus, string> = {
  Admitted: 'Waiting',
  Running: 'Running',
  Succeeded: 'Succeeded',
  Failed: 'Failed',
  Cancelled: 'Stopped',
}

/** Whether the execution has not ended and may still be charged. */
export function isInProgress({ completedAt }: Pick<ExecutionSummary, 'completedAt'>): boolean {
  return completedAt === null
}
