import { windowStartMs } from '@gateway/pricing/spending-window'
import type { Book, Budget, BudgetWindow } from './book.ts'

// What a call does to the monthly budgets of its user, team and tag (B12 of run_batch).

/** Returns the windows that a call of this user and tag counts towards, by the ids of their budgets. */
export function budgetsOf(book: Book, user: string | null, tag: string | null, nowMs: number): BudgetWindow[] {
  const targets = [`user ${user}`, `team ${book.team}`, `tag ${tag}`]
  const month = windowStartMs('monthly', nowMs)
  return [...book.budgets]
    .filter(([, { target }]) => target !== null && targets.includes(target))
    .map(([id, budget]) => ({ id, windowStartMs: Math.max(month, budget.windowStartMs) }))
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
}

/** Returns what a budget leaves in a window; null: it does not bind. */
export function leftInBudget(book: Book, { id, windowStartMs: start }: BudgetWindow): bigint | null {
  const budget = book.budgets.get(id)!
  const { spent, reserved } = inWindow(budget, start)
  return budget.hard ? budget.limit - spent - reserved : null
}

export function reserveInBudgets(book: Book, windows: BudgetWindow[], micro: bigint): void {
  for (const { id, windowStartMs: start } of windows) {
    const budget = book.budgets.get(id)!
    const { spent, reserved } = inWindow(budget, start)
    book.budgets.set(id, { ...budget, windowStartMs: start, spent, reserved: reserved + micro })
  }
}

/** Ends a reservation in the windows that have not ended, and notes a notice for each threshold that the charge crosses. */
export function closeInBudgets(book: Book, windows: BudgetWindow[], micro: bigint, charged: bigint): void {
  for (const window of windows) {
    const { id, windowStartMs: start } = window
    const budget = book.budgets.get(id)!
    if (budget.windowStartMs !== start) continue
    const spent = budget.spent + charged
    book.budgets.set(id, { ...budget, reserved: budget.reserved - micro, spent })
    for (const percent of [80n, 100n]) {
      const isCrossed = spent * 100n >= percent * budget.limit && budget.spent * 100n < percent * budget.limit
      if (isCrossed) notify(book, window, percent)
    }
  }
}

/**
 * Notes the notice of a budget, 80 percent spent, that refuses a call of this bound, unless the call would fit after those
 * in progress.
 */
export function refuseByBudget(book: Book, { id, windowStartMs: start }: BudgetWindow, micro: bigint): void {
  const budget = book.budgets.get(id)!
  const { spent } = inWindow(budget, start)
  if (spent * 100n >= 80n * budget.limit && spent + micro > budget.limit)
    notify(book, { id, windowStartMs: start }, 100n)
}

function notify(book: Book, { id, windowStartMs: start }: BudgetWindow, percent: bigint): void {
  const notice = `budget.percent ${id} ${start} ${book.budgets.get(id)!.limit} ${percent}`
  if (!book.notices.includes(notice)) book.notices.push(notice)
}

function inWindow({ windowStartMs: start, spent, reserved }: Budget, wanted: number) {
  return start === wanted ? { spent, reserved } : { spent: 0n, reserved: 0n }
}
