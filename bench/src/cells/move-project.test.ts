import fc from 'fast-check'
import { expect, test } from 'vitest'
import { admit, BOUND, checkWorld, moveOn, openWorld, settle } from './move-project.ts'

const GATEWAYS = 3
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('admit' as const), gateway: fc.nat(GATEWAYS - 1) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('settle' as const),
      which: fc.nat(),
      charge: fc.nat(BOUND),
      ends: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('move' as const) }) },
)

test('a project moves with its books whole, and is in one cell at a time', () => {
  let moved = 0
  let retried = 0
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const world = openWorld(GATEWAYS, 500)
      for (const [n, one] of steps.entries()) {
        if (one.kind === 'admit') admit(world, one.gateway, `call ${n}`)
        if (one.kind === 'move') moveOn(world)
        if (one.kind === 'settle' && world.open.size > 0) {
          const id = [...world.open.keys()][one.which % world.open.size]!
          if (settle(world, id, one.charge) && one.ends) world.open.delete(id) // otherwise it is repeated later
        }
        checkWorld(world)
      }
      // What is open settles, and the mover comes to its end.
      for (let turn = 0; turn < 10; turn++) {
        for (const id of world.open.keys()) if (settle(world, id, 1)) world.open.delete(id)
        moveOn(world)
        checkWorld(world)
      }
      const { books, state } = world.cells[1]
      expect([state, world.open.size, books!.reserved]).toEqual(['home', 0, 0])
      expect(new Map(books!.calls)).toEqual(world.told)
      moved++
      retried += world.retries
    }),
    { numRuns: 2_000 },
  )
  expect(moved).toBe(2_000)
  expect(retried).toBeGreaterThan(0)
})
