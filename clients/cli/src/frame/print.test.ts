import { expect, test } from 'vitest'
import { printRows } from './print.ts'

test('printRows aligns columns by the cells that a terminal shows, not by UTF-16 units', () => {
  const written: string[] = []
  const io = { write: (text: string) => void written.push(text) }
  const isTerminal = { input: false, output: true, words: false }
  const names = ['日本語', 'a', '👩‍💻', 'e\u0301', '한국', '½']
  printRows({ io: { ...io, isTerminal, say: () => {} }, options: {} }, names, {
    name: (name) => name,
    '>same': (name) => name,
    end: () => '|',
  })
  expect(written).toEqual([
    'NAME      SAME  END\n',
    '日本語  日本語  |\n',
    'a            a  |\n',
    '👩‍💻          👩‍💻  |\n',
    'e\u0301            e\u0301  |\n',
    '한국      한국  |\n',
    '½            ½  |\n',
  ])
})
