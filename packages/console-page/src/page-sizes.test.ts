import { expect, test } from 'vitest'
import { readBuiltPage } from './built-page.ts'

// Compressed size of what a browser loads before it renders, because users also open the console on slow connections.

const KIB = 1_024
const files = readBuiltPage()
const start = files.get('index.html')!.identity.toString()
const scripts = [...files.keys()].filter((name) => name.endsWith('.js'))
const firstView = withImports(scripts.filter((name) => start.includes(name)))

/** Script names, including all static imports. */
function withImports(names: string[], known = new Set<string>()): Set<string> {
  for (const name of names) {
    if (known.has(name)) continue
    known.add(name)
    const text = files.get(name)!.identity.toString()
    withImports(
      [...text.matchAll(/(?:\bfrom|\bimport)\s*["'`]\.\/([^"'`]+\.js)["'`]/g)].map(([, file]) => file!),
      known,
    )
  }
  return known
}

/** Brotli-compressed size, in KiB. */
function sizeOf(names: Iterable<string>): number {
  return [...names].reduce((sum, name) => sum + files.get(name)!.br.length, 0) / KIB
}

/** Scripts that opening a screen loads in addition to the first view. */
function except(screen: RegExp): string[] {
  const found = scripts.filter((name) => screen.test(name))
  expect(found).toHaveLength(1)
  return [...withImports(found)].filter((name) => !firstView.has(name))
}

test('the first view loads at most 220 KiB: scripts, styles and the font', () => {
  expect(firstView.size).toBeGreaterThan(1)
  const styles = [...files.keys()].filter((name) => name.endsWith('.css') && start.includes(name))
  const fonts = [...files.keys()].filter((name) => name.endsWith('.woff2'))
  expect([styles.length, fonts.length]).toEqual([1, 1])
  expect(sizeOf([...firstView, ...styles, ...fonts])).toBeLessThanOrEqual(220)
})

test('opening a flow loads at most 117 KiB more scripts, without the panels and dialogs that load on demand', () => {
  const canvas = except(/^flow-screen/)
  expect(canvas.length).toBeGreaterThan(1)
  expect(sizeOf(canvas)).toBeLessThanOrEqual(117)
  const panels = ['run-panel', 'revisions-panel', 'json-panel', 'resizable-panels', 'execution-banner']
  for (const later of [...panels, 'auto-layout', 'conflict-dialog', 'mcp-dialog', 'flow-tools', 'code-mirror']) {
    const [file] = scripts.filter((name) => name.startsWith(later))
    expect(canvas).not.toContain(file)
    expect([later, file]).not.toContain(undefined)
  }
})

test('the usage screen loads at most 35 KiB more scripts', () => {
  expect(sizeOf(except(/^usage-screen/))).toBeLessThanOrEqual(35)
})

test('a chart loads at most 110 KiB of scripts, after its screen', () => {
  const plot = except(/^chart-plot/)
  expect(sizeOf(plot)).toBeLessThanOrEqual(110)
  for (const file of except(/^usage-screen/)) expect(file).not.toMatch(/^chart-plot/)
})

test('turns off code generation in zod before it loads, in any load order', () => {
  const having = scripts.filter((name) => files.get(name)!.identity.includes('jitless'))
  expect(having.length).toBeGreaterThan(0)
  for (const name of having) {
    const text = files.get(name)!.identity.toString()
    expect(text.replaceAll(/^(?:import[^;]*;)*/g, '')).toMatch(/^globalThis\.__zod_globalConfig=\{jitless:!0\}/)
  }
})
