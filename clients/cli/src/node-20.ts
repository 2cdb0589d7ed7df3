/** Polyfills for Node 20, for packages bundled here. */
export function fillInForNode20(): void {
  Map.groupBy ??= (items, keyOf) => {
    const groups: ReturnType<typeof Map.groupBy> = new Map()
    let at = 0
    for (const item of items) {
      const key = keyOf(item, at++)
      groups.set(key, [...(groups.get(key) ?? []), item])
    }
    return groups as never
  }
}
