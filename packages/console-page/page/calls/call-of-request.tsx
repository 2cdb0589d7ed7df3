import { useQuery } from '@tanstack/react-query'
import { Link, Navigate } from '@tanstack/react-router'
import type { ExecutionDetail } from '@gateway/api/execution'
import { idOfRequest } from '@gateway/api/ids'
import { ask } from '../api/ask.ts'
import { failedBy } from '../api/failed.ts'
import { reading } from '../api/queries.ts'
import { useScope } from '../api/session.ts'
import { EmptyState, Loaded } from '../components/list-states.tsx'
import { Screen } from '../frame/screen.tsx'

/** Opens what a request made: a call, or the execution of a flow (rules §2.2). */
export function CallOfRequest({ id }: { id: string }) {
  const scope = useScope()
  const { queryKey } = reading(PATH, { params: { ...scope, invocation: id } })
  const made = useQuery({ queryKey, queryFn: () => madeBy(id, scope) })
  return (
    <Screen title="Request" of={id}>
      <Loaded of={made} what="the request">
        {({ call, execution }) =>
          call !== null ? (
            <Navigate to="/projects/$tenant/$project/calls/$call" params={{ ...scope, call }} replace />
          ) : execution !== null ? (
            <Navigate
              to="/projects/$tenant/$project/flows/$sandbox"
              params={{ ...scope, sandbox: execution.sandbox }}
              search={{ execution: execution.id }}
              replace
            />
          ) : (
            <EmptyState
              title="No call has this request ID"
              action={
                <Link className="button main" to="/projects/$tenant/$project/refusals" params={scope}>
                  Refused calls
                </Link>
              }
            >
              The request was refused, was answered with a stored response, or is of another project. Refused calls are
              listed by their request ID.
            </EmptyState>
          )
        }
      </Loaded>
    </Screen>
  )
}

const PATH = '/api/v2/tenants/{tenant}/projects/{project}/invocations/{invocation}'

interface Made {
  /** ID of the call. */
  call: string | null
  execution: ExecutionDetail | null
}

async function madeBy(request: string, scope: { tenant: string; project: string }): Promise<Made> {
  const [invocation, execution] = [idOfRequest('inv', request), idOfRequest('exe', request)]
  const call = await orNothing(ask('GET', PATH, { params: { ...scope, invocation } }))
  if (call !== null) return { call: call.id, execution: null }
  const path = '/api/v2/tenants/{tenant}/projects/{project}/executions/{execution}'
  return { call: null, execution: await orNothing(ask('GET', path, { params: { ...scope, execution } })) }
}

/** What a request finds; null if there is nothing, or nothing that this user may see. */
async function orNothing<Found>(asked: Promise<Found>): Promise<Found | null> {
  try {
    return await asked
  } catch (error) {
    if (nothings.has(failedBy(error).code)) return null
    throw error
  }
}

const nothings = new Set(['not_found', 'execution_not_found', 'forbidden'])
