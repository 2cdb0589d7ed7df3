// The routes that an Express application serves, read from its router instead of a list.

interface Layer {
  rawPath: string | string[]
  name: string
  route?: { path: string | string[]; methods: Record<string, boolean | undefined> }
  handle: { stack?: unknown }
}

export interface Surface {
  /** Method and path, such as `GET /v1/models/*id`. */
  routes: string[]
  /** Path prefixes of mounted handlers, such as `/api/v2`. */
  mounts: string[]
}

/** All routes of an application, except those that only answer with the allowed methods. */
export function surfaceOf(app: unknown): Surface {
  const { stack } = (app as { router: { stack: Layer[] } }).router
  const surface: Surface = { routes: [], mounts: [] }
  for (const { route, rawPath, handle } of stack) {
    if (handle.stack !== undefined && route === undefined)
      throw new Error(`a router is mounted at ${String(rawPath)}: its routes can't be listed`)
    if (route === undefined) surface.mounts.push(...[rawPath].flat().filter((path) => path !== '/'))
    else
      for (const path of [route.path].flat())
        for (const method of Object.keys(route.methods).filter((name) => name !== '_all'))
          surface.routes.push(`${method.toUpperCase()} ${path}`)
  }
  return surface
}

/**
 * Placeholder for any dependency of an application that is built but never called. Reading a property or calling it returns the
 * placeholder.
 */
export function neverAsked(): never {
  const anything: object = new Proxy(() => {}, {
    get: (_target, name) => (typeof name === 'symbol' ? undefined : anything),
    apply: () => anything,
    construct: () => anything,
  })
  return anything as never
}
