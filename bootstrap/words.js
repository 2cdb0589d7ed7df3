// `node bootstrap/words.js [path part …]`: every place that still says an old word, with the word that stands for it.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { exceptions, oldWords } from './lint/old-words.js'

const projectFolder = fileURLToPath(new URL('..', import.meta.url))
const READ = /(\.(tsx?|js|sql|prisma|md|css|html|sh)|\.ya?ml|Dockerfile)$/
const CODE = /\.(tsx?|js)$/
const MADE = /^(docs\/openapi\.json|pnpm-lock\.yaml)$|\/generated\//

/** The old words of a text, as `{ line, word, say }`. */
export function oldWordsIn(file, text) {
  const free = exceptions.filter(([files]) => files.test(file)).map(([, words]) => new RegExp(words, `g${words.flags}`))
  return text.split('\n').flatMap((whole, n) => {
    const line = free.reduce((left, words) => left.replace(words, ' '), whole)
    const found = [...partsOf(line), ...matches(oldWords.phrases, line)]
    if (CODE.test(file)) found.push(...matches(oldWords.names, line.replace(/(^|\s)(\/\/|\/?\*).*$/, '')))
    return found.map(({ word, say }) => ({ line: n + 1, word, say }))
  })
}

function partsOf(line) {
  return (line.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g) ?? []).flatMap((part) => {
    const say = oldWords.parts.get(part.toLowerCase())
    return say === undefined ? [] : [{ word: part, say }]
  })
}

function matches(table, line) {
  return table.flatMap(([pattern, say]) => {
    const [word] = pattern.exec(line) ?? []
    return word === undefined ? [] : [{ word, say }]
  })
}

/** What git knows of, and what it does not ignore. */
export function projectFiles(folder = projectFolder) {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard']
  return execFileSync('git', args, { cwd: folder, encoding: 'utf8' }).split('\n').filter(Boolean)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const wanted = process.argv.slice(2)
  const files = projectFiles().filter(
    (file) => READ.test(file) && !MADE.test(file) && existsSync(join(projectFolder, file)),
  )
  let count = 0
  for (const file of files.filter((each) => wanted.length === 0 || wanted.some((part) => each.includes(part))))
    for (const text of [file, readFileSync(join(projectFolder, file), 'utf8')])
      for (const { line, word, say } of oldWordsIn(file, text)) {
        count++
        process.stdout.write(`${file}:${line}: "${word}": say ${say}\n`)
      }
  process.stdout.write(count === 0 ? 'No old words.\n' : `${count} old words.\n`)
  process.exitCode = count === 0 ? 0 : 1
}
