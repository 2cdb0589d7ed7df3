import path from 'node:path'

/**
 * Where a file is in the stack, from its path below the project's folder.
 * `packages/pricing/src/price.test.ts` is { floor: 'packages', room: 'pricing', inside: 'src/price.test.ts', isTest: true }.
 * Null for what is in no room.
 */
export function placeOf(filename, projectFolder) {
  const parts = path.relative(projectFolder, filename).split(path.sep)
  const [floor, second] = parts
  if (['services', 'packages', 'clients', 'tools'].includes(floor)) return place(floor, second, parts.slice(2))
  if (['scenarios', 'bench', 'prisma', 'deploy'].includes(floor)) return place(floor, floor, parts.slice(1))
  return null
}

function place(floor, room, rest) {
  const inside = rest.join('/')
  return {
    floor,
    room,
    inside,
    isTest: /\.(test|scenario|fixture)\.tsx?$/.test(inside) || inside.includes('fixtures/'),
  }
}

/** Places whose code answers the same for the same input, always: no I/O, no clock, no randomness. */
export function isPure(place) {
  if (place.floor === 'packages') return ['pricing', 'api', 'ledger-protocol', 'flow'].includes(place.room)
  return place.floor === 'services' && place.room === 'ledger' && place.inside.startsWith('oracle/')
}

/** Packages that programs of browsers import too. */
export function runsInBrowsers(place) {
  if (place.floor === 'clients') return place.room === 'typescript' && place.inside.startsWith('src/')
  return place.floor === 'packages' && ['pricing', 'api', 'flow', 'api-client'].includes(place.room)
}
