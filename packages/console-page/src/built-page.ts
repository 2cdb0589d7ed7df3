import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { builtFolder, madeFromFile } from './page-folders.ts'

export { pageAddress } from './page-address.ts'

/** A file as it is sent, by its encoding; `identity` is the file itself. */
export interface BuiltFile {
  identity: Buffer
  br: Buffer
  gzip: Buffer
}

export type BuiltPage = ReadonlyMap<string, BuiltFile>

/**
 * The built files by name, read once: `index.html`, and others whose names change with their content.
 * @throws Error that says how to build them, where they are not there
 */
export function readBuiltPage(): BuiltPage {
  const names = readNames()
  const read = (name: string) => readFileSync(path.join(builtFolder, name))
  const files = names.filter((name) => names.includes(`${name}.br`))
  return new Map(
    files.map((name) => [name, { identity: read(name), br: read(`${name}.br`), gzip: read(`${name}.gz`) }]),
  )
}

/** Of the stylesheet that all screens share. */
export function stylesheetAddress(page: BuiltPage): string {
  return /href="([^"]+\.css)"/.exec(String(page.get('index.html')!.identity))![1]!
}

function readNames(): string[] {
  try {
    readFileSync(madeFromFile)
    return readdirSync(builtFolder)
  } catch (error) {
    const message =
      'The page of the console is not built. `node packages/console-page/src/build-command.ts` builds it; npm start and npm test do so by themselves.'
    throw new Error(message, { cause: error })
  }
}
