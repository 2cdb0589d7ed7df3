/**
 * Watches which fields of a value are read. A compiled schema reads each field that it knows, and those of a map, so what
 * remains unread is unknown to it: schemas of Kubernetes don't say `additionalProperties: false`.
 */
export function readFieldsOf<T extends object>(value: T): { value: T; unread: () => string[] } {
  const read = new Set<string>()

  function watch(inner: object, path: string): object {
    return new Proxy(inner, {
      get(target, name, receiver) {
        const found: unknown = Reflect.get(target, name, receiver)
        if (typeof name === 'symbol' || !Object.hasOwn(target, name)) return found
        const here = `${path}/${name}`
        read.add(here)
        return typeof found === 'object' && found !== null ? watch(found, here) : found
      },
    })
  }

  function unreadOf(inner: object, path: string): string[] {
    return Object.entries(inner).flatMap(([name, found]: [string, unknown]) => {
      const here = `${path}/${name}`
      if (!read.has(here)) return [here]
      return typeof found === 'object' && found !== null ? unreadOf(found, here) : []
    })
  }

  return { value: watch(value, '') as T, unread: () => unreadOf(value, '') }
}
