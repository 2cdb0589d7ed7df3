import { ask, type Answer, type Input, type PathOf } from './ask.ts'

const LONGEST_PAGE = 500

type Listed<P extends PathOf<'GET'>> =
  Answer<'GET', P> extends { data: (infer Item)[]; nextCursor: string | null } ? Item : never

/** Reads all pages of a list. @throws ApiRefusal */
export async function askAll<const P extends PathOf<'GET'>>(path: P, input: Input<'GET', P>): Promise<Listed<P>[]> {
  const rows: Listed<P>[] = []
  let cursor: string | null = null
  do {
    const query: object = { ...input.query, limit: LONGEST_PAGE, ...(cursor !== null && { cursor }) }
    const page = (await ask('GET', path, { ...input, query })) as {
      data: Listed<P>[]
      nextCursor: string | null
    }
    rows.push(...page.data)
    cursor = page.nextCursor
  } while (cursor !== null)
  return rows
}
