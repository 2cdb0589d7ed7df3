// Tags can be moved; digests and commits cannot. What is pinned keeps its tag as well, for people and for Dependabot.

/** An image by its tag, or an action, as a file names it. */
export interface Reference {
  kind: 'image' | 'action'
  /** `node:24.21.0-slim`, `actions/checkout@v5`. */
  text: string
}

/** Images that are made here have no digest before they are built. */
const OURS = /^(model-gateway|registry\.example\.com)\//

const image = String.raw`[a-z0-9][a-z0-9._-]*(?:[./][a-z0-9._-]+)*(?::\d+/[a-z0-9._/-]+)?:[\w.-]+`
const places = [
  new RegExp(String.raw`^FROM (?<image>${image})(?= AS )`, 'gm'),
  new RegExp(String.raw`^ *(?:- )?image: (?<image>${image})$`, 'gm'),
  new RegExp(String.raw`^ *[A-Z]+_IMAGE: (?<image>${image})$`, 'gm'),
  /^ *(?:- )?uses: (?<action>[\w-]+\/[\w./-]+@v[\w.]+)$/gm,
]

/** The references of a file that name no digest and no commit yet, each once. */
export function unpinned(text: string): Reference[] {
  const found = places.flatMap((place) =>
    [...text.matchAll(place)].map(({ groups }) =>
      groups?.['action'] === undefined
        ? ({ kind: 'image', text: groups!['image']! } as const)
        : ({ kind: 'action', text: groups['action'] } as const),
    ),
  )
  const wanted = found.filter(({ text }) => !OURS.test(text))
  return [...new Map(wanted.map((reference) => [reference.text, reference])).values()]
}

/** The file with each reference pinned to the digest or commit that was found for it. */
export function pin(text: string, pinsOf: ReadonlyMap<string, string>): string {
  let pinned = text
  for (const { kind, text: reference } of unpinned(text)) {
    const found = pinsOf.get(reference)
    if (found === undefined) continue
    const [action, tag] = reference.split('@')
    const by = kind === 'image' ? `${reference}@${found}` : `${action}@${found} # ${tag}`
    const place = new RegExp(`(?<=(?:FROM|image:|IMAGE:|uses:) ?)${escaped(reference)}(?= AS |$)`, 'gm')
    pinned = pinned.replaceAll(place, by)
  }
  return pinned
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
}
