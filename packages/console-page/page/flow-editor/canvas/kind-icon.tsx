const paths: Readonly<Record<string, string>> = {
  input: 'M3 12h12m-4-5 5 5-5 5M20 4v16',
  output: 'M9 12h12m-5-5 5 5-5 5M4 4v16',
  template: 'M5 6h14M5 11h9M5 16h6m6-3v6m-3-3h6',
  expression: 'M16 5h-2a3 3 0 0 0-3 3v8a3 3 0 0 1-3 3H7m1-8h8',
  branch: 'M4 12h6m0 0 8-6m-8 6 8 6m0-12h-4m4 0v4m0 8h-4m4 0v-4',
  constant: 'M9 4 7 20m10-16-2 16M4 9h16M3 15h16',
  'product.chat': 'M4 5h16v11H10l-5 4v-4H4z',
  'product.image': 'M4 5h16v14H4zm0 11 5-5 4 4 3-3 4 4',
  'product.audio': 'M4 10v4h4l5 4V6l-5 4zm12-1a4 4 0 0 1 0 6m3-9a8 8 0 0 1 0 12',
}

/** Decorative: the kind is written next to it. */
export function KindIcon({ kind }: { kind: string }) {
  return (
    <svg className="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={paths[kind] ?? 'M5 5h14v14H5z'} />
    </svg>
  )
}
