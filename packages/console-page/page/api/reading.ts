import { queryOptions } from '@tanstack/react-query'
import { ask, type Input, type PathOf } from './ask.ts'
import { askAll } from './ask-all.ts'

type Asked<P extends PathOf<'GET'>> = Pick<Input<'GET', P>, 'params' | 'query'>

/** `useQuery` options that read an API path. */
export function reading<const P extends PathOf<'GET'>>(path: P, input: Asked<P>) {
  return queryOptions({
    queryKey: [path, input.params, input.query ?? null],
    queryFn: ({ signal }) => ask('GET', path, { ...input, signal }),
  })
}

/** `useQuery` options that read all pages of a list. */
export function readingAll<const P extends PathOf<'GET'>>(path: P, input: Asked<P>) {
  return queryOptions({
    queryKey: [path, input.params, input.query ?? null, 'all'],
    queryFn: ({ signal }) => askAll(path, { ...input, signal }),
  })
}
