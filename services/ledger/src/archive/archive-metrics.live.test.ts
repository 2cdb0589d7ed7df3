import { expect } from 'vitest'
import { startTelemetry } from '@gateway/service-kit/process/telemetry'
import { monthsAgo, test } from '../fixtures/past-months.ts'
import { observeArchive } from './archive-books.ts'
import { endOf } from './month.ts'

test('ledger_archive_overdue reports the days that archiving is overdue, only if archiving is configured', async ({
  books,
}) => {
  const overdue = async (afterDays: number | undefined): Promise<number | null> => {
    const telemetry = await startTelemetry({ service: 'ledger', otlpEndpoint: undefined })
    observeArchive(telemetry.meter, books.replica, afterDays)
    const [, figure] = /^ledger_archive_overdue(?:\{[^}]*\})? (\S+)/m.exec(await telemetry.metricsText()) ?? []
    await telemetry.stop()
    return figure === undefined ? null : Number(figure)
  }
  const days = (Date.now() - endOf(monthsAgo(6)).getTime()) / 86_400_000
  expect(await overdue(undefined)).toBeNull()
  expect(await overdue(62)).toBeCloseTo(days - 62, 1)
  await books.rollUp()
  await books.archive()
  expect(await overdue(62)).toBe(0)
})
