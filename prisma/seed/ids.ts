import { mintId } from '@gateway/api/ids'

// Fixed, so that seeding again finds what it made. No id that is minted at a real time looks like these.
const fixed = <Prefix extends string>(prefix: Prefix, n: number) => mintId(prefix, 0, new Uint8Array(10).with(9, n))

export const ids = {
  tenant: fixed('ten', 1),
  user: fixed('usr', 1),
  team: fixed('tea', 1),
  project: fixed('prj', 1),
  otherProject: fixed('prj', 2),
}
