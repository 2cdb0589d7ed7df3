import type { Operation, Json } from '@gateway/testbed/example-request'
import type { Chance } from './chance.ts'
import type { Draft } from './draft.ts'
import { boundaries, hostileText } from './hostile-values.ts'
import { schemaValue } from './schema-value.ts'

const SEGMENTS = [
  '%00',
  'a%00b',
  '%ED%A0%80',
  '%',
  '%zz',
  '%C3%28',
  '%F0%9F%92%A9',
  '%E2%80%AE',
  '..%2F..',
  '%2e%2e',
  '..',
  '.',
  '%20',
  '%25',
  "'",
  'prj_',
  '%7B%7D',
  '-1',
  '0',
  '1e3',
  '99999999999999999999',
  'null',
  '__proto__',
  'constructor',
  'acme%2F',
  'acme%2Fnone',
  'a/b/c',
  '',
]
const METHODS = ['HEAD', 'OPTIONS', 'PUT', 'PATCH', 'DELETE', 'POST', 'GET', 'TRACE', 'PROPFIND', 'QUERY', 'PURGE']

export function mutateMethod(draft: Draft, chance: Chance): string {
  draft.method = chance.hits(0.3) ? 'HEAD' : chance.pick(METHODS)
  return `method ${draft.method}`
}

/** Puts a hostile text in place of an ID, or changes the shape of the path. */
export function mutatePath(draft: Draft, chance: Chance): string {
  const { segments, operation } = draft
  const parameters = parametersOf(operation)
  if (parameters.length > 0 && chance.hits(0.8)) {
    const at = chance.pick(parameters)
    segments[at] = chance.hits(0.1) ? 'x'.repeat(chance.pick([27, 300, 3_000])) : chance.pick(SEGMENTS)
    return `${operation.path.split('/')[at + 1]} hostile`
  }
  switch (chance.below(6)) {
    case 0:
      segments.push('')
      return 'slash at the end'
    case 1:
      segments.splice(chance.below(segments.length), 0, '')
      return 'two slashes'
    case 2:
      segments.splice(1 + chance.below(segments.length), 0, chance.pick(SEGMENTS))
      return 'segment added'
    case 3:
      segments.pop()
      return 'segment left out'
    case 4:
      segments[0] = (segments[0] ?? '').toUpperCase() // none may be left
      return 'path in upper case'
    default:
      segments.push(`a;b=c%3F${chance.text(3)}`)
      return 'segment with a semicolon'
  }
}

/** Positions of the parameters among the segments. */
function parametersOf({ path }: Operation): number[] {
  return path
    .slice(1)
    .split('/')
    .flatMap((segment, at) => (segment.startsWith('{') ? [at] : []))
}

export function mutateQuery(draft: Draft, chance: Chance): string {
  const { query, operation } = draft
  const documented = operation.parameters.filter(({ in: place }) => place === 'query') as unknown as {
    name: string
    schema: Json
  }[]
  if (documented.length === 0 || chance.hits(0.15)) {
    query.push(
      chance.pick([
        'strange=1',
        'limit=',
        '=',
        '&&',
        'a[b][c]=1',
        '__proto__[x]=1',
        '%=%',
        '%00=%00',
        'x'.repeat(9_000),
      ]),
    )
    return 'strange query'
  }
  const { name, schema } = chance.pick(documented)
  const limits = boundaries(schema)
  const hostile = () => encoded(hostileText(chance))
  const drop = () => query.splice(0, query.length, ...query.filter((part) => !part.startsWith(`${name}=`)))
  switch (chance.below(6)) {
    case 0:
      drop()
      query.push(`${name}=${encoded(String(schemaValue(schema, chance)))}`)
      return `?${name} made from its schema`
    case 1:
      query.push(`${name}=${hostile()}`, `${name}=${hostile()}`)
      return `?${name} repeated`
    case 2:
      drop()
      query.push(`${name}=${chance.pick(['%', '%zz', '%ED%A0%80', '%00', '+', ''])}`)
      return `?${name} badly encoded`
    case 3:
      query.push(`${name}[]=1`, `${name}[a]=1`)
      return `?${name} as a list`
    default:
      drop()
      if (limits.length > 0 && chance.hits(0.5)) {
        query.push(`${name}=${encoded(String(chance.pick(limits)))}`)
        return `?${name} at its limit`
      }
      query.push(`${name}=${hostile()}`)
      return `?${name} hostile`
  }
}

function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed().slice(0, 3_000))
}
