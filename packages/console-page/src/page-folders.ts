import path from 'node:path'

export const projectFolder = path.resolve(import.meta.dirname, '../../..')
/** The program that browsers run. */
export const pageFolder = path.resolve(import.meta.dirname, '../page')
/** What is built of it, and served. */
export const builtFolder = path.resolve(import.meta.dirname, '../dist')
/** In the built folder: of which sources it was built. */
export const madeFromFile = path.join(builtFolder, 'made-from.txt')
