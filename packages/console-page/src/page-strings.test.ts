import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { projectFolder } from './page-folders.ts'
import { pageStrings, stringsOf } from './page-strings.ts'

/** Phrases that the screen table of docs/style.md retires, each with its replacement. */
function retiredPhrases(page = readFileSync(path.join(projectFolder, 'docs/style.md'), 'utf8')): [string, string][] {
  const [, table = ''] = page.split('### Retired phrases')
  return table
    .split('\n## ')[0]!
    .split('\n')
    .flatMap((line): [string, string][] => {
      const [, refused, write] = /^\| "(.+)" \| (.+) \|$/.exec(line) ?? []
      return refused === undefined ? [] : [[refused, write!]]
    })
}

/** Whether a text has a phrase as whole words. A phrase with a capital has to start a sentence. */
function holds(text: string, phrase: string): boolean {
  const words = phrase.replaceAll(/[.*+?()|]/g, String.raw`\$&`)
  const start = /^[A-Z]/.test(phrase) ? String.raw`(?:^|[.:] )` : String.raw`\b`
  return new RegExp(String.raw`${start}${words}(?!\w)`).test(text)
}

test('no text of the console uses a phrase that docs/style.md retires', () => {
  const phrases = retiredPhrases()
  expect(phrases.length).toBeGreaterThan(70)
  const found = pageStrings().flatMap(({ file, line, text }) =>
    phrases.filter(([refused]) => holds(text, refused)).map(([, write]) => `${file}:${line}: ${text} (write ${write})`),
  )
  expect(found).toEqual([])
})

test('stringsOf finds the texts of elements, attributes, literals and templates, with their lines', () => {
  const source = `import { Box } from 'some where'
export const screen = (name: string) => (
  <Box className="a b-c" title="Look again">
    Nothing <b>is</b> here.
    {announce(\`\${name} is gone.\`)}
    {isOpen && ' Take it away'}
  </Box>
)`
  expect(stringsOf('screen.tsx', source).map(({ line, text }) => [line, text])).toEqual([
    [3, 'Nothing here. {} {}'],
    [3, 'Look again'],
    [5, '{} is gone.'],
    [6, 'Take it away'],
  ])
})
