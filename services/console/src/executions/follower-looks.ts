import { openSharedLook } from '@gateway/service-kit/async/shared-look'
import type { ConsoleDeps, FollowerLooks, Reader } from '../deps.ts'
import { mayUseSandboxes } from '../permissions/authorize.ts'
import { queryAs } from '../request/connection-turns.ts'
import { authenticatedBy } from '../sign-in/authenticate.ts'

// What followers of executions look up at each poll. Followers poll at the same instants and share what is the same for
// them: the lines of an execution, and the rights of a user or token in a project.

/** All followers together have the turns of one user at the database. */
const FOLLOWERS = { party: 'followers' }

type Deps = Pick<ConsoleDeps, 'prisma' | 'now' | 'sessionLimits'> & {
  ledger: Pick<ConsoleDeps['ledger'], 'followExecution'>
}

export function openFollowerLooks(deps: Deps): FollowerLooks {
  return {
    progress: openSharedLook((question) => deps.ledger.followExecution(question)),
    mayUseSandboxes: openSharedLook(({ tenant, project, ...sent }: Reader) =>
      queryAs(FOLLOWERS, async () => mayUseSandboxes(deps.prisma, await authenticatedBy(deps, sent), tenant, project)),
    ),
  }
}
