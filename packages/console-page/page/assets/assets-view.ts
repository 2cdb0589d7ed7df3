/** Asset filter in the URL; all assets if omitted. */
export interface AssetsView {
  /** Only assets created by this execution. */
  execution?: string
}

export function assetsView({ execution }: Record<string, unknown>): AssetsView {
  return typeof execution === 'string' ? { execution } : {}
}
