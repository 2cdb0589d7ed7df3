import path from 'node:path'

export const projectFolder = path.resolve(import.meta.dirname, '../../..')
export const packageFolder = path.resolve(import.meta.dirname, '..')
/** Sources of the page that runs in browsers. */
export const pageFolder = path.resolve(import.meta.dirname, '../page')
/** Build output, which is served. */
export const builtFolder = path.resolve(import.meta.dirname, '../dist')
/** Fingerprint of the sources that the build output was built from. */
export const madeFromFile = path.join(builtFolder, 'made-from.txt')
