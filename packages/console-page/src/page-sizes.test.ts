import { expect, test } from 'vitest'
import { readBuiltPage } from './built-page.ts'

// What a browser loads before it shows anything, as it is sent: people open the console on slow lines, too.

const KIB = 1_024
const files = readBuiltPage()
const start = files.get('index.html')!.identity.toString()

/** The bytes, compressed by Brotli, of the files of a kind that the start names. */
function firstView(extension: string): number {
  const names = [...files.keys()].filter((name) => name.endsWith(extension) && start.includes(name))
  expect(names.length).toBeGreaterThan(0)
  return names.reduce((sum, name) => sum + files.get(name)!.br.length, 0)
}

test('the editor of flows has at most 140 KiB of scripts besides, and loads auto-layout only when asked', () => {
  const editor = [...files.keys()].filter((name) => /^flow-screen.*\.js$/.test(name))
  expect(editor).toHaveLength(1)
  expect(files.get(editor[0]!)!.br.length).toBeLessThanOrEqual(140 * KIB)
  expect([...files.keys()].filter((name) => /^auto-layout.*\.js$/.test(name))).toHaveLength(1)
})

test('the first view has at most 130 KiB of scripts and 15 KiB of styles', () => {
  expect(firstView('.js')).toBeLessThanOrEqual(130 * KIB)
  expect(firstView('.css')).toBeLessThanOrEqual(15 * KIB)
})
