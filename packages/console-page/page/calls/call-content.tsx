import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ApiRefusal } from '@gateway/api-client/failures'
import type { CapturedContent } from '@gateway/api/console/capture'
import type { InvocationRecord } from '@gateway/api/console/money'
import { ask } from '../api/ask.ts'
import { reading, readingAll } from '../api/queries.ts'
import { useProject, useScope, useMyRoles } from '../api/session.ts'
import { CopyButton } from '../components/copying.tsx'
import { Loaded } from '../components/list-states.tsx'
import { Moment } from '../components/values.tsx'
import { contentParts, type ContentPart } from './content-parts.ts'

/** Captured prompt and answer of a call, or why there is none. */
export function CallContent({ of: call }: { of: InvocationRecord }) {
  const { tenant, project: id } = useScope()
  const { data: project } = useProject()
  const { isOwner } = useMyRoles()
  if (!project || (project.capture === null && !isOwner)) return null
  return (
    <section className="stack" aria-label="Prompt and answer">
      <h2>Prompt and answer</h2>
      {project.capture === null ? (
        <p className="soft">
          Not captured.{' '}
          <Link to="/projects/$tenant/$project/settings" params={{ tenant, project: id }}>
            Prompt capture
          </Link>{' '}
          is off in this project.
        </p>
      ) : call.state === 'Open' ? (
        <p className="soft">Captured when the call has ended.</p>
      ) : (
        <ReadContent of={call} />
      )}
    </section>
  )
}

const PATH = '/api/v2/tenants/{tenant}/projects/{project}/invocations/{invocation}/content'
const EVERY_MS = 2_000
/** Content is stored after its call has closed: for a minute, a read may find nothing yet. */
const LOOKS = 30
/**
 * Nothing more is stored for a call that closed longer ago. Generous, because the clock of this browser may be wrong: the
 * number of looks is the bound.
 */
const RECENT_MS = 3_600_000

function ReadContent({ of: { id: invocation, closedAt } }: { of: InvocationRecord }) {
  const params = { ...useScope(), invocation }
  const client = useQueryClient()
  const { queryKey } = reading(PATH, { params })
  const mayCome = () =>
    closedAt !== null &&
    Math.abs(Date.now() - Date.parse(closedAt)) < RECENT_MS &&
    client.getQueryState(queryKey)!.dataUpdateCount < LOOKS
  const read = useQuery({
    queryKey,
    queryFn: ({ signal }) => ask('GET', PATH, { params, signal }).catch(nothingStored),
    refetchInterval: ({ state: { data, status } }) => status !== 'error' && data === null && mayCome() && EVERY_MS,
    notifyOnChangeProps: 'all', // the last look finds the same as the one before
    retry: false,
    refetchOnWindowFocus: false, // each read is in the audit
    staleTime: Infinity,
  })
  const code = read.error instanceof ApiRefusal ? read.error.code : null
  if (code === 'not_permitted') return <LacksRight />
  if (read.data === null && !read.error)
    return (
      <p className="soft">
        {mayCome() ? 'Being stored…' : 'Nothing was captured for this call, or it has been deleted since.'}
      </p>
    )
  return (
    <Loaded of={read} what="the content">
      {(content) => content && <Content of={content} />}
    </Loaded>
  )
}

function nothingStored(error: unknown): null {
  if (error instanceof ApiRefusal && error.code === 'not_found') return null
  throw error
}

/** Names who can give the right. */
function LacksRight() {
  const params = useScope()
  const grants = useQuery(readingAll('/api/v2/tenants/{tenant}/projects/{project}/grants', { params }))
  const owners = grants.data?.filter(({ role }) => role === 'Project Owner').map(({ name }) => name)
  const who = owners && owners.length > 0 ? owners.join(' or ') : 'A Project Owner'
  return (
    <p className="notice">
      This needs the right “Captured content”. {who} can give it under{' '}
      <Link to="/projects/$tenant/$project/users" params={params}>
        Users
      </Link>
      .
    </p>
  )
}

function Content({ of: content }: { of: CapturedContent }) {
  const parts = contentParts(content)
  return (
    <>
      {parts.map((part, at) => (
        <Part key={at} of={part} />
      ))}
      {content.failure !== null && (
        <p className="notice">
          The call failed with <code>{content.failure}</code>.
        </p>
      )}
      {content.isCut && <p className="soft">Longer text was cut.</p>}
      <p className="soft small">
        Captured <Moment iso={content.capturedAt} to="second" />, deleted <Moment iso={content.deletedAt} to="day" />.
        Your read is in the audit log.
      </p>
    </>
  )
}

function Part({ of: { who, text, isCode } }: { of: ContentPart }) {
  return (
    <article className="card stack tight content-part">
      <header className="head">
        <strong>{who}</strong>
        <CopyButton text={text} label={`Copy ${who}`} isSmall />
      </header>
      <pre className={isCode ? 'code' : 'prose'} tabIndex={0}>
        {text}
      </pre>
    </article>
  )
}
