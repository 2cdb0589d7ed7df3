// `npm run page-strings`: every text of the console, one per line, after its file and line.
import { pageStrings } from './page-strings.ts'

for (const { file, line, text } of pageStrings()) process.stdout.write(`${file}:${line}\t${text}\n`)
