import type { StackKind } from '@gateway/testbed/stack-test'
import { randomBytes } from 'node:crypto'
import type { InvocationRecord, UsageReport } from '@gateway/api/console/money'
import type { FundingRecord, JournalEntry, Statement } from '@gateway/api/console/statement'
import { databaseOf } from '@gateway/database/client'
import { expect, inject } from 'vitest'
import { callsTest, openSpender } from './calls.fixture.ts'
import { openChance } from './chance.fixture.ts'

// Any history adds up, both while operations run and afterwards: statements agree with calls, journal, fundings, wallet
// and usage to the micro-USD. The test controls the database clock, so a history of months, including midnights and a
// clock that is set back a little, takes seconds.

const OPERATIONS = 10_000 * inject('propertyShare')
const ROUNDS = 40
const MAX_CONCURRENT = 48
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const MONTHS = 3

/** Start of each month of the history and of the month after it. */
const starts = monthsBefore(new Date())
const [begin, end] = [starts[0]!, starts.at(-1)!]

function monthsBefore(now: Date): Date[] {
  return Array.from(
    { length: MONTHS + 1 },
    (_, n) => new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - MONTHS + n)),
  )
}

const test = callsTest
  .extend('kind', { scope: 'file' }, (): StackKind => 'own') // this test sets its clock
  /** Sets the database clock, which all timestamps follow from the first funding on. */
  .extend('setClock', { scope: 'file' }, async ({ ledger, database, fixture }) => {
    await ledger.stop()
    await fixture.run(`
      CREATE SCHEMA set_clock;
      CREATE TABLE set_clock.hands (at timestamptz);
      INSERT INTO set_clock.hands VALUES ('${begin.toISOString()}');
      CREATE FUNCTION set_clock.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
        AS 'SELECT at FROM set_clock.hands';
      GRANT USAGE ON SCHEMA set_clock TO PUBLIC;
      GRANT SELECT ON set_clock.hands TO PUBLIC;
      ALTER DATABASE ${databaseOf(database.adminUrl)} SET search_path = set_clock, pg_catalog, public`)
    await ledger.start({ CHECK_EVERY_SECONDS: '1' })
    return async (at: Date) => void (await fixture.run('UPDATE set_clock.hands SET at = $1', [at]))
  })
  .extend('spender', async ({ setClock, stack, fixture, signIn }) => {
    await setClock(begin)
    return openSpender({ stack, fixture, signIn })
  })
  .extend('read', ({ stack }) => async <Body>(path: string): Promise<Body> => {
    const { status, body } = await stack.owner.get(`${stack.projectPath}/${path}`)
    expect([path, status]).toEqual([path, 200])
    return body as Body
  })
  .extend('all', ({ read }) => async <Item>(list: string): Promise<Item[]> => {
    const items: Item[] = []
    for (let cursor: string | null = ''; cursor !== null;) {
      const query = `limit=500${cursor && `&cursor=${encodeURIComponent(cursor)}`}`
      const page: { data: Item[]; nextCursor: string | null } = await read(`${list}?${query}`)
      items.push(...page.data)
      cursor = page.nextCursor
    }
    return items
  })

const month = (at: Date | string) => (typeof at === 'string' ? at : at.toISOString()).slice(0, 7)
const sum = <Item>(items: Item[], of: (item: Item) => number) => items.reduce((all, item) => all + of(item), 0)

function expectAddsUp(statement: Statement, where: string): void {
  const { openingMicro, fundedMicro, correctedMicro, chargedMicro, closingMicro, days, charges } = statement
  expect([where, statement.differences]).toEqual([where, []])
  expect([where, openingMicro + fundedMicro + correctedMicro - chargedMicro]).toEqual([where, closingMicro])
  for (const figure of ['fundedMicro', 'correctedMicro', 'chargedMicro', 'calls'] as const)
    expect([where, figure, sum(days, (day) => day[figure])]).toEqual([where, figure, statement[figure]])
  expect([where, sum(charges, (charge) => charge.chargedMicro)]).toEqual([where, chargedMicro])
  expect([where, days.at(-1)?.closingMicro ?? openingMicro]).toEqual([where, closingMicro])
}

test(`after ${OPERATIONS} random operations statements agree with calls, journal, fundings, wallet and usage`, async ({
  stack,
  spender: { operator, model, secret },
  calls,
  setClock,
  read,
  all,
}) => {
  const months = starts.slice(0, MONTHS).map(month)
  const chance = openChance(randomBytes(4).readUInt32LE())
  const period = `from=${begin.toISOString().slice(0, 10)}&to=${new Date(Date.now() + 2 * DAY_MS).toISOString().slice(0, 10)}`
  const statementOf = (query: string) => read<Statement>(`statement?${query}`)
  const open: string[] = []
  let done = 0

  /** Runs one operation. A call takes two: admission, and usually a later settlement or release. */
  async function operate(): Promise<void> {
    const dice = chance.below(100)
    const id = `${chance.seed}-${done++}`
    const wallet = `${stack.projectPath}/wallet`
    if (dice < 2) {
      await operator.post(`${wallet}/fundings`, { fundingId: id, micro: 1 + chance.below(50_000) })
    } else if (dice < 4) {
      const micro = chance.below(2) === 0 ? 1 + chance.below(500) : -1 - chance.below(500)
      await operator.post(`${wallet}/corrections`, { correctionId: id, micro, reason: 'a random one' })
    } else if (dice < 55 || open.length === 0) {
      const admitted = await calls.admit(secret, model)
      if (admitted.outcome.kind === 'admitted') open.push(admitted.id)
    } else {
      const [call] = open.splice(chance.below(open.length), 1)
      const tokens = { promptTokens: chance.below(108), completionTokens: chance.below(101) }
      if (dice < 65) await calls.release(call!)
      else await calls.settle(call!, tokens)
    }
  }

  /** Clock of a round: moves forward, sometimes back a little, and hits the last and first moment of each month. */
  function clockOf(round: number): Date {
    const at = begin.getTime() + ((end.getTime() - begin.getTime()) * (round + chance.below(100) / 100)) / ROUNDS
    const midnight = starts.find((start) => Math.abs(start.getTime() - at) < (end.getTime() - begin.getTime()) / ROUNDS)
    if (midnight && midnight !== begin) return new Date(midnight.getTime() - chance.below(2))
    return new Date(Math.max(at - (chance.below(4) === 0 ? 2 * HOUR_MS : 0), begin.getTime()))
  }

  /** Reads random statements while operations run. */
  async function readOn(isBusy: () => boolean): Promise<number> {
    let reads = 0
    for (; isBusy(); reads++) {
      const asked = chance.below(2) === 0 ? `month=${months[chance.below(MONTHS)]}` : period
      expectAddsUp(await statementOf(asked), `seed ${chance.seed}, ${asked}`)
    }
    return reads
  }

  async function expectAllTheSame(): Promise<void> {
    const where = `seed ${chance.seed}`
    const each = await Promise.all([...months, month(end)].map((of) => statementOf(`month=${of}`)))
    for (const statement of each) expectAddsUp(statement, `${where}, ${statement.from}`)
    for (const [n, { closingMicro }] of each.slice(0, -1).entries())
      expect([where, n, each[n + 1]!.openingMicro]).toEqual([where, n, closingMicro])
    const whole = await statementOf(period)
    const wallet = await read<Record<string, number>>('wallet')
    expect([where, sum(each, (of) => of.chargedMicro)]).toEqual([where, wallet['settledMicro']])
    expect([where, whole.closingMicro]).toEqual([where, wallet['availableMicro']! + wallet['reservedMicro']!])
    expect([where, whole.reservedMicro]).toEqual([where, wallet['reservedMicro']])
    for (const by of ['model', 'key', 'day']) {
      const usage = await read<UsageReport>(
        `usage?by=${by}&from=${begin.toISOString()}&to=${new Date(Date.now() + DAY_MS).toISOString()}`,
      )
      expect([where, usage.total.chargedMicro, usage.total.calls]).toEqual([where, whole.chargedMicro, whole.calls])
    }
    const entries = await all<JournalEntry>('journal')
    const fundings = await all<FundingRecord>('fundings')
    const invocations = await all<InvocationRecord>('invocations')
    expect([where, sum(invocations, (call) => call.chargedMicro)]).toEqual([where, whole.chargedMicro])
    const charges = new Map(invocations.map(({ id, chargedMicro }) => [id, chargedMicro]))
    for (const statement of each) {
      const booked = entries.filter(({ at }) => month(at) === month(statement.from))
      const settled = booked.filter(({ kind }) => kind === 'settle')
      const of = fundings.filter(({ at }) => month(at) === month(statement.from))
      const inMonth = (kind: FundingRecord['kind']) => of.filter((each) => each.kind === kind)
      const { from, calls: counted, chargedMicro, fundedMicro, correctedMicro } = statement
      expect([where, from, counted, chargedMicro, fundedMicro, correctedMicro]).toEqual([
        where,
        from,
        settled.length,
        sum(settled, ({ reference }) => charges.get(reference)!),
        sum(inMonth('funding'), ({ micro }) => micro),
        sum(inMonth('correction'), ({ micro }) => micro),
      ])
    }
  }

  expect((await all<FundingRecord>('fundings')).map(({ at }) => at)).toEqual([begin.toISOString()])
  let reads = 0
  for (let round = 0; round < ROUNDS; round++) {
    await setClock(clockOf(round))
    await calls.changeInstance()
    let busy = true
    const upTo = (OPERATIONS * (round + 1)) / ROUNDS
    const workers = Array.from({ length: MAX_CONCURRENT }, async () => {
      while (done < upTo) await operate()
    })
    const work = Promise.all(workers).finally(() => (busy = false))
    const [, count] = await Promise.all([work, readOn(() => busy)])
    reads += count
    if (round % 10 === 9) await expectAllTheSame()
  }
  expect(done).toBeGreaterThanOrEqual(OPERATIONS)
  expect(reads).toBeGreaterThanOrEqual(ROUNDS)
  // The ledger's check, which derives all figures independently, reaches the newest entry and finds nothing.
  let seconds = 0
  const checked = async () => {
    await setClock(new Date(end.getTime() + ++seconds * 1_000)) // the check is scheduled by that clock
    const { check, seal } = await statementOf(period)
    return check?.entry === seal?.entry ? check?.findings : 'not yet'
  }
  await expect.poll(checked).toBe(0)
}, 300_000)
