import type { Answer, Caller } from '../caller.ts'
import type { IdName, Ids } from './isolation-fixture.ts'

/** How a row of a matrix asks. */
export interface Asked {
  /** Which thing a parameter of the path names, where it isn't the one of the parameter's name. */
  path?: Partial<Record<string, IdName>>
  /** @param fresh a text that no other request uses */
  body?: (ids: Ids, fresh: string) => object
  headers?: (ids: Ids) => Record<string, string>
}

/** Sends what a route and its row say, about these things. */
export async function send(caller: Caller, route: string, asked: Asked, ids: Ids, fresh: string): Promise<Answer> {
  const [method = '', pattern = ''] = route.split(' ')
  return caller.ask(method, pathOf(pattern, asked, ids), asked.body?.(ids, fresh), asked.headers?.(ids))
}

/** The path of a route about these things. */
export function pathOf(pattern: string, asked: Asked, ids: Ids): string {
  return pattern.replaceAll(/[:*](\w+)/g, (_, name: string) => encodeURIComponent(idAt(asked, ids, name)))
}

/** The kinds of things that a request names, wherever it names them. */
export function namesIn(route: string, asked: Asked, ids: Ids): IdName[] {
  const names = new Set<IdName>()
  const watched = new Proxy(ids, {
    get(target, name: IdName) {
      names.add(name)
      return target[name]
    },
  })
  for (const [, name = ''] of route.matchAll(/[:*](\w+)/g)) idAt(asked, watched, name)
  asked.body?.(watched, '')
  asked.headers?.(watched)
  return [...names]
}

/** A number is of something, and of no tenant's: the first revision is everybody's. */
function idAt({ path = {} }: Asked, ids: Ids, parameter: string): string {
  return parameter === 'number' ? '1' : ids[path[parameter] ?? (parameter as IdName)]
}

/** Everything of an answer that a caller could tell two of them apart by, less the ids that it echoes. */
export function imprint({ status, headers, text }: Answer, ids: Ids): string {
  const kept = [...headers].filter(([name]) => name !== 'x-request-id' && name !== 'date')
  let all = [status, ...kept.map(([name, value]) => `${name}: ${value}`), text].join('\n')
  for (const [name, id] of Object.entries(ids)) all = all.replaceAll(id, `<${name}>`)
  return all
}
