import { expect } from 'vitest'
import { consoleTest as test } from '../console.fixture.ts'

type Listed = { data: { id: string }[]; nextCursor: string | null }

test('lists what users create newest first, across pages', async ({ stack, fixture }) => {
  const { path, projectPath, project, owner } = stack
  const lists: [list: string, create: (n: number) => Promise<string>][] = [
    [`${path}/keys`, async () => (await owner.post(`${path}/keys`, { project })).body.key.id],
    [
      `${projectPath}/sandboxes`,
      async (n) => (await owner.post(`${projectPath}/sandboxes`, { name: `F${n}` })).body.id,
    ],
    [`${path}/projects`, async (n) => (await owner.post(`${path}/projects`, { name: `P${n}` })).body.id],
    [`${path}/teams`, async (n) => (await owner.post(`${path}/teams`, { name: `T${n}` })).body.id],
    [`${path}/members`, async () => (await stack.member({ tenant: 'Member' })).id],
    [
      `${projectPath}/webhooks`,
      async (n) => {
        const { id } = (await owner.post(`${projectPath}/webhooks`, { url: `https://example.com/${n}` })).body.webhook
        if (n !== 2) return id
        // An email destination, whose ID sorts before those of the others.
        const email = id.replace('whk_', 'eml_')
        await fixture.run(
          `UPDATE money.webhooks SET id = $2, kind = 'email', url = NULL, secret_key = NULL, recipient = $3 WHERE id = $1`,
          [id, email, owner.id],
        )
        return email
      },
    ],
    [`${projectPath}/grants`, async () => (await stack.member({ project: 'Project Viewer' })).id],
  ]
  for (const [list, create] of lists) {
    const made = [await create(1), await create(2), await create(3)].toReversed()
    const first: Listed = (await owner.get(`${list}?limit=2`)).body
    const second: Listed = (await owner.get(`${list}?limit=1&cursor=${first.nextCursor}`)).body
    expect([list, [...first.data, ...second.data].map(({ id }) => id)]).toEqual([list, made])
  }
})

test('lists a user with an old account first if they became a member last', async ({ stack, fixture }) => {
  const [old, recent] = [await stack.member({ tenant: 'Member' }), await stack.member({ tenant: 'Member' })]
  await fixture.run(`UPDATE control.memberships SET created_at = now() + interval '1 minute' WHERE user_id = $1`, [
    old.id,
  ])
  const { data }: Listed = (await stack.owner.get(`${stack.path}/members?limit=2`)).body
  expect(data.map(({ id }) => id)).toEqual([old.id, recent.id])
})
