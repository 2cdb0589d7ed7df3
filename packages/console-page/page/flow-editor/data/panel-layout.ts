import { z } from 'zod'

/** Panels around the canvas. */
export const panelNames = ['palette', 'inspector', 'drawer'] as const
export type PanelName = (typeof panelNames)[number]

/** Sizes in pixels: the width of palette and inspector, the height of the drawer. */
export const panelSizes = {
  palette: { standard: 216, least: 160, most: 400, collapsed: 0 },
  inspector: { standard: 340, least: 260, most: 720, collapsed: 0 },
  drawer: { standard: 300, least: 140, most: 900, collapsed: 37 },
} as const satisfies Record<PanelName, Record<'standard' | 'least' | 'most' | 'collapsed', number>>

const layout = z.object({
  open: z.object({ palette: z.boolean(), inspector: z.boolean(), drawer: z.boolean() }),
  sizes: z.object({ palette: z.number(), inspector: z.number(), drawer: z.number() }),
})
/** Which panels are open, and their sizes in pixels. A closed panel keeps its size. */
export type PanelLayout = z.infer<typeof layout>

const KEY = 'flow-panels'

/** The layout that this browser remembers. Without one, a narrow window starts without the palette. */
export function readPanelLayout(storage: Pick<Storage, 'getItem'>, windowWidth: number): PanelLayout {
  const kept = parsed(storage.getItem(KEY))
  const size = (name: PanelName) => {
    const { standard, least, most } = panelSizes[name]
    return Math.min(most, Math.max(least, kept?.sizes[name] ?? standard))
  }
  return {
    open: kept?.open ?? { palette: windowWidth >= 1_200, inspector: true, drawer: false },
    sizes: { palette: size('palette'), inspector: size('inspector'), drawer: size('drawer') },
  }
}

export function keepPanelLayout(storage: Pick<Storage, 'setItem'>, kept: PanelLayout): void {
  try {
    storage.setItem(KEY, JSON.stringify(kept))
  } catch {
    // Storage is full or blocked: the panels open in their standard sizes next time.
  }
}

function parsed(text: string | null): PanelLayout | null {
  try {
    return layout.safeParse(JSON.parse(text ?? '')).data ?? null
  } catch {
    return null
  }
}
