import { openFixture, type Fixture } from '@gateway/testbed/fixture'

/** More micro-USD than any bench spends. */
export const PLENTY = 2n ** 50n

/** Creates what a bench needs for its calls, and closes the database whether or not that worked. */
export async function withFixture<T>(adminUrl: string, build: (fixture: Fixture) => Promise<T>): Promise<T> {
  const fixture = await openFixture(adminUrl)
  try {
    return await build(fixture)
  } finally {
    await fixture.close()
  }
}
