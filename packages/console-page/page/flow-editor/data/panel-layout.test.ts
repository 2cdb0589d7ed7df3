import { expect, test } from 'vitest'
import { keepPanelLayout, panelSizes, readPanelLayout, type PanelLayout } from './panel-layout.ts'

const stored = (text: string | null) => ({ getItem: () => text })

test('starts with the palette in a wide window only', () => {
  expect(readPanelLayout(stored(null), 1_440).open).toEqual({ palette: true, inspector: true, drawer: false })
  expect(readPanelLayout(stored(null), 1_000).open.palette).toBe(false)
})

test('restores what was kept, within the limits of each panel', () => {
  let text: string | null = null
  const kept: PanelLayout = {
    open: { palette: false, inspector: true, drawer: true },
    sizes: { palette: 5_000, inspector: 300, drawer: 1 },
  }
  keepPanelLayout({ setItem: (_, value) => void (text = value) }, kept)
  expect(readPanelLayout(stored(text), 1_440)).toEqual({
    open: kept.open,
    sizes: { palette: panelSizes.palette.most, inspector: 300, drawer: panelSizes.drawer.least },
  })
})

test.each(['', '{"open":1}', '[]'])('ignores an unreadable layout: %j', (text) => {
  expect(readPanelLayout(stored(text), 1_440).sizes.inspector).toBe(panelSizes.inspector.standard)
})
