import type { Meter } from '@opentelemetry/api'
import type { Deps } from '../deps.ts'
import { overdueDays, readBooksState } from './months-to-archive.ts'

/**
 * For how long archiving is overdue.
 * @param afterDays for how many days a month has to be over; undefined: nothing is archived, and there is no figure
 */
export function observeArchive(meter: Meter, { reads }: Pick<Deps, 'reads'>, afterDays: number | undefined): void {
  meter
    .createObservableGauge('ledger.archive.overdue', {
      description:
        'For how many days the oldest month that is to be archived is overdue; none where nothing is archived',
      unit: 'd',
    })
    .addCallback(async (result) => {
      if (afterDays !== undefined) result.observe(overdueDays(await readBooksState(reads), afterDays))
    })
}
