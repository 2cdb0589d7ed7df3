import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { builtFolder, madeFromFile } from './page-folders.ts'

export { pageAddress } from './page-address.ts'

/** Contents of a built file by content encoding; `identity` is uncompressed. */
export interface BuiltFile {
  identity: Buffer
  br: Buffer
  gzip: Buffer
}

export type BuiltPage = ReadonlyMap<string, BuiltFile>

/**
 * Reads the built files by name: `index.html`, and files whose names change with their content.
 * @throws Error that says how to build the page, if it is not built
 */
export function readBuiltPage(): BuiltPage {
  const names = readNames()
  const read = (name: string) => readFileSync(path.join(builtFolder, name))
  const files = names.filter((name) => names.includes(`${name}.br`))
  return new Map(
    files.map((name) => [name, { identity: read(name), br: read(`${name}.br`), gzip: read(`${name}.gz`) }]),
  )
}

/** URL of the stylesheet shared by all screens. */
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
