/** Which assets are shown, as the address has it; left out: all. */
export interface AssetsView {
  /** Those that this one made. */
  execution?: string
}

export function assetsView({ execution }: Record<string, unknown>): AssetsView {
  return typeof execution === 'string' ? { execution } : {}
}
