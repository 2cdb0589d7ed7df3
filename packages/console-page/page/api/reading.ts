import { queryOptions } from '@tanstack/react-query'
import { ask, type Input, type PathOf } from './ask.ts'
import { askAll } from './ask-all.ts'

type Asked<P extends PathOf<'GET'>> = Pick<Input<'GET', P>, 'params' | 'query'>

/** What `useQuery` needs to read from a path of the API. */
export function reading<const P extends PathOf<'GET'>>(path: P, input: Asked<P>) {
  return queryOptions({
    queryKey: [path, input.params, input.query ?? null],
    queryFn: ({ signal }) => ask('GET', path, { ...input, signal }),
  })
}

/** As `reading`, of a list to its end. */
export function readingAll<const P extends PathOf<'GET'>>(path: P, input: Asked<P>) {
  return queryOptions({
    queryKey: [path, input.params, input.query ?? null, 'all'],
    queryFn: ({ signal }) => askAll(path, { ...input, signal }),
  })
}
