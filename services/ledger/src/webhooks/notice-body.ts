/** A row of money.notices. */
export interface NoticeRow {
  id: string
  project: string
  kind: string
  threshold: bigint
  remaining_micro: bigint | null
  key: string | null
  window_start: Date | null
  limit_micro: bigint | null
  spent_micro: bigint | null
  at: Date
}

/** What is posted to a webhook: the same text at each try. */
export function noticeBody(row: NoticeRow): string {
  const at = row.at.toISOString()
  return JSON.stringify({
    type: row.kind,
    timestamp: at,
    data: {
      id: row.id,
      project: row.project,
      kind: row.kind,
      threshold: Number(row.threshold),
      at,
      remainingMicro: microOf(row.remaining_micro),
      key: row.key,
      windowStart: row.window_start?.toISOString() ?? null,
      limitMicro: microOf(row.limit_micro),
      spentMicro: microOf(row.spent_micro),
    },
  })
}

function microOf(micro: bigint | null): number | null {
  return micro === null ? null : Number(micro)
}
