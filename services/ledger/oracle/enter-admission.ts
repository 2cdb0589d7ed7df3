import type { Book } from './book.ts'
import { reserveInBudgets } from './count-towards-budgets.ts'
import type { AdmissionDecision } from './decide-admission.ts'

export type Admission = Extract<AdmissionDecision, { code: 'admitted' }>

export function enterAdmission(book: Book, { reservation, idempotencyKey, fingerprint }: Admission): void {
  const { project, lineage, micro, windowStartMs } = reservation
  book.open.set(reservation.id, reservation)
  const wallet = book.wallets.get(project) ?? { funded: 0n, reserved: 0n, settled: 0n }
  book.wallets.set(project, { ...wallet, reserved: wallet.reserved + micro })
  if (windowStartMs !== null) {
    const meter = book.meters.get(lineage)
    const before = meter?.windowStartMs === windowStartMs ? meter : { spent: 0n, reserved: 0n }
    book.meters.set(lineage, { windowStartMs, spent: before.spent, reserved: before.reserved + micro })
  }
  reserveInBudgets(book, reservation.budgets, micro)
  if (idempotencyKey !== null && fingerprint !== null) {
    const name = `${project} ${idempotencyKey}`
    book.idempotency.set(name, { fingerprint, invocation: reservation.invocation, reservation: reservation.id })
  }
}
