import { useRef, useState, type FormEvent, type KeyboardEvent, type ReactNode } from 'react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import type { ProductRecord } from '@gateway/api/console/products'
import { ask } from '../api/ask.ts'
import { ChangedElsewhere, faultAt } from '../api/failed.ts'
import { readingAll, useChange, useOnce } from '../api/queries.ts'
import { useMe } from '../api/session.ts'
import { stateLabels } from '../catalogue/product-labels.tsx'
import { LeaveGuard } from '../components/dialog.tsx'
import { EmptyState, Loaded } from '../components/list-states.tsx'
import { loadedLater } from '../components/loaded-later.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { several } from '../components/usd.ts'
import { Badge } from '../components/values.tsx'
import { OperatorScreen } from './operator-screen.tsx'
import { useFocusOnFault } from '../components/fields.tsx'
import { PriceFields } from './price-fields.tsx'
import {
  bodyOf,
  changedNames,
  type Conflicts,
  draftOf,
  emptyDraft,
  patchOf,
  pricingOf,
  type ProductDraft,
  rebase,
} from './product-draft.ts'
import { CapabilityFields, IdentityFields, LimitFields } from './product-fields.tsx'
import {
  PublishDialog,
  PublishQuestion,
  readingAffectedProjects,
  readLatest,
  SuspendDialog,
} from './product-state-dialogs.tsx'
import { ProviderRoutes } from './provider-routes.tsx'
import { useProviders } from './use-providers.ts'
import './operator.css'

/** Form that creates a product, empty or from a template. */
export function NewProductScreen() {
  const { template } = useSearch({ from: '/operator/products/-/new' })
  const products = useQuery({
    ...readingAll('/api/v2/products', { params: {} }),
    enabled: useMe().platformOperator && template !== undefined,
  })
  const found = products.data?.find(({ id }) => id === template)
  return (
    <OperatorScreen title="New product">
      <AllProducts />
      {template === undefined ? (
        <ProductForm product={null} start={emptyDraft('chat')} />
      ) : (
        <Loaded of={products} what="the template">
          {() => <ProductForm product={null} start={found ? { ...draftOf(found), id: '' } : emptyDraft('chat')} />}
        </Loaded>
      )}
    </OperatorScreen>
  )
}

/** A product: its state, what to do next, and the form that changes it. */
export function ProductScreen() {
  const { product: id } = useParams({ from: '/operator/products/$product' })
  const { platformOperator } = useMe()
  const products = useQuery({ ...readingAll('/api/v2/products', { params: {} }), enabled: platformOperator })
  const product = products.data?.find((each) => each.id === id)
  const [asked, setAsked] = useState<'publish' | 'suspend' | null>(null)
  const close = () => setAsked(null)
  const actions = product && (
    <>
      <Link className="button" to="/operator/products/-/new" search={{ template: id }}>
        Use as template
      </Link>
      {product.state === 'published' && (
        <button type="button" className="button danger" onClick={() => setAsked('suspend')}>
          Suspend
        </button>
      )}
    </>
  )
  return (
    <OperatorScreen title={product?.name ?? 'Product'} actions={actions}>
      <AllProducts />
      <Loaded of={products} what="the product">
        {() =>
          product ? (
            <>
              <NextStep of={product} onPublish={() => setAsked('publish')} />
              <ProductForm key={id} product={product} start={draftOf(product)} />
            </>
          ) : (
            <EmptyState title="No product has this ID">Check the address, or look for it in the list.</EmptyState>
          )
        }
      </Loaded>
      {product && asked === 'publish' && <PublishDialog of={product} onClose={close} />}
      {product && asked === 'suspend' && <SuspendDialog of={product} onClose={close} />}
    </OperatorScreen>
  )
}

function AllProducts() {
  return (
    <p>
      <Link to="/operator/products">All products</Link>
    </p>
  )
}

const SHOWN_PROJECTS = 3

/** State of a product, and what makes it callable. */
function NextStep({ of: { id, kind, state }, onPublish }: { of: ProductRecord; onPublish: () => void }) {
  const { tenants } = useMe()
  const using = useQuery({ ...readingAffectedProjects(id, tenants), enabled: state === 'published' })
  const organizations = tenants.filter(({ role }) => role === 'Admin')
  return (
    <section className="card product-next" aria-label="State">
      <div className="stack tight">
        <Badge {...stateLabels[state]} />
        <code>{id}</code>
      </div>
      {state === 'published' ? (
        <div className="stack tight">
          {using.data?.slice(0, SHOWN_PROJECTS).map((project) => (
            <p key={project.id}>
              Assigned to <strong>{project.name}</strong>.{' '}
              {kind === 'chat' && (
                <Link
                  to="/projects/$tenant/$project/playground"
                  params={{ tenant: project.tenant, project: project.id }}
                  search={{ model: id }}
                >
                  Try it in the playground
                </Link>
              )}
            </p>
          ))}
          {using.data && using.data.length > SHOWN_PROJECTS && (
            <p>Assigned to {several(using.data.length - SHOWN_PROJECTS, 'more project')} of your organizations.</p>
          )}
          <p>
            Projects can call it once an Admin of their organization assigns it.
            {organizations.map((organization) => (
              <span key={organization.id}>
                {' '}
                <Link to="/organizations/$tenant/projects" params={{ tenant: organization.id }}>
                  Assign to a project of {organization.name}
                </Link>
              </span>
            ))}
          </p>
        </div>
      ) : (
        <>
          <p>
            {state === 'draft'
              ? 'Only operators see this product. Publish it, then assign it to a project.'
              : 'Calls of this product are refused. Publish it again to allow them.'}
          </p>
          <button type="button" className="button small" onClick={onPublish}>
            Publish
          </button>
        </>
      )}
    </section>
  )
}

const KnownModelPicker = loadedLater(async () => (await import('./known-model-picker.tsx')).KnownModelPicker)

const sections = [
  ['identity', 'Identity', ['name', 'ownedBy', 'description']],
  ['price', 'Price', ['unit', 'prompt', 'completion', 'cachedPrompt', 'cacheWrite', 'reasoning', 'request']],
  ['providers', 'Providers and fallback', ['providers']],
  [
    'limits',
    'Limits',
    ['contextLength', 'maxOutputTokens', 'factor', 'tokenizer', 'maxOutputBytes', 'maxTokensPerImage'],
  ],
  ['capabilities', 'Capabilities', ['input', 'output', 'supportedParameters', 'values', 'isModerated']],
] as const satisfies readonly (readonly [id: string, title: string, fields: Conflicts])[]

/**
 * Fields of a product by section. What was typed stays until it is saved, also if the product is read again. All other
 * fields show what was read.
 */
function ProductForm({ product, start }: { product: ProductRecord | null; start: ProductDraft }) {
  const [read, setRead] = useState(product)
  const [saved, setSaved] = useState({ product, draft: start })
  const [draft, setDraft] = useState(start)
  const [conflicts, setConflicts] = useState<Conflicts>([])
  const [filled, setFilled] = useState(start) // what no one typed
  const [tries, setTries] = useState(0)
  const [isPublishing, setPublishing] = useState(false)
  const form = useRef<HTMLFormElement>(null)
  const navigate = useNavigate()
  const once = useOnce()
  const known = useProviders({}).data?.data
  const client = useQueryClient()
  const save = useChange(
    async ({ sent, publishes }: { sent: ProductDraft; publishes: boolean }) => {
      const latest = product && ((await readLatest(client, product.id)) ?? product)
      const [rebased, more] = latest ? rebase(sent, saved.draft, draftOf(latest)) : [sent, []]
      const unconfirmed = publishes && latest ? changedNames(saved.draft, draftOf(latest)) : more
      if (unconfirmed.length > 0) throw new ChangedElsewhere() // the form now shows them
      const record = await send(latest, rebased, publishes, once)
      if (product) {
        setSaved({ product: record, draft: draftOf(record) })
        setDraft((now) => rebase(now, sent, draftOf(record))[0])
        setConflicts([])
        setTries(0)
      }
      return record
    },
    `${draft.name} saved.`,
    ['/api/v2/products'],
  )
  useFocusOnFault(form, tries, save.error)
  const unsaved = changedNames(saved.draft, draft)
  const isUnsaved = unsaved.length > 0
  if (product !== read) {
    const [rebased, more] = rebase(draft, saved.draft, start)
    setRead(product)
    setSaved({ product, draft: start })
    setDraft(rebased)
    setConflicts([...conflicts, ...more])
  }
  const isFaulty = bodyOf(draft) === null
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    setTries(tries + 1)
    if (isFaulty || save.isPending) return
    const { submitter } = event.nativeEvent as SubmitEvent
    if (submitter instanceof HTMLButtonElement && submitter.value === 'publish') setPublishing(true)
    else store(false)
  }
  const store = (publishes: boolean) => {
    const onSuccess = (record: ProductRecord) => {
      if (product) return
      void navigate({
        to: '/operator/products/$product',
        params: { product: record.id },
        ignoreBlocker: true,
        replace: true,
      })
    }
    save.mutate({ sent: draft, publishes }, { onSuccess })
  }
  /** The form shows how saving proceeds, and a refusal at its field. */
  const confirmPublish = () => {
    setPublishing(false)
    store(true)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 's' || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    form.current?.requestSubmit()
  }
  const parts = {
    draft,
    isNew: product === null,
    isTried: tries > 0,
    faultOf: (param: string) => faultAt(save.error, param),
    onChange: (part: Partial<ProductDraft>) => setDraft((now) => ({ ...now, ...part })),
  }
  const conflicting = conflicts.filter((name) => unsaved.includes(name))
  const isPublished = product?.state === 'published'
  const status = save.error ? 'Not saved' : isUnsaved ? 'Unsaved changes' : product ? 'All changes saved' : ''
  const pricing = isPublishing ? pricingOf(draft.kind, draft) : null
  return (
    <>
      {pricing && (
        <PublishQuestion
          of={{ ...draft, pricing }}
          change={{ error: null, isPending: false, mutate: confirmPublish }}
          onClose={() => setPublishing(false)}
        />
      )}
      <LeaveGuard isUnsaved={isUnsaved}>Your changes to this product are lost if you leave.</LeaveGuard>
      <div className="product-page">
        <SectionList />
        <form ref={form} className="product-form" aria-label="Product" onSubmit={submit} onKeyDown={onKeyDown}>
          {product === null && (
            <KnownModelPicker
              known={known}
              isTyped={JSON.stringify(draft) !== JSON.stringify(filled)}
              onFill={(found) => {
                setFilled(found)
                setDraft(found)
              }}
            />
          )}
          <Section of={sections[0]} conflicts={conflicting}>
            <IdentityFields {...parts} />
          </Section>
          <Section of={sections[1]} conflicts={conflicting}>
            <PriceFields {...parts} />
          </Section>
          <Section of={sections[2]} conflicts={conflicting}>
            <ProviderRoutes {...parts} known={known} />
          </Section>
          <Section of={sections[3]} conflicts={conflicting}>
            <LimitFields {...parts} />
          </Section>
          <Section of={sections[4]} conflicts={conflicting}>
            <CapabilityFields {...parts} />
          </Section>
          <RefusalBox error={save.error} />
          <div className="product-foot">
            <span className="soft small" role="status">
              {save.isPending
                ? 'Saving…'
                : conflicting.length > 0
                  ? "Unsaved changes replace another operator's"
                  : status}
            </span>
            <div className="buttons">
              <button type="submit" className={`button ${isPublished ? 'main' : ''}`} disabled={save.isPending}>
                {product ? 'Save' : 'Save draft'}
              </button>
              {!isPublished && (
                <button type="submit" className="button main" value="publish" disabled={save.isPending}>
                  Save and publish
                </button>
              )}
            </div>
          </div>
        </form>
      </div>
    </>
  )
}

/** Creates or changes a product; an edit sends the changed fields only. */
async function send(
  product: ProductRecord | null,
  draft: ProductDraft,
  publishes: boolean,
  once: (body: object) => string,
): Promise<ProductRecord> {
  if (product) {
    const patch = { ...patchOf(product, draft), ...(publishes && { state: 'published' as const }) }
    return ask('PATCH', '/api/v2/products/{product}', { params: { product: product.id }, body: patch })
  }
  const body = bodyOf(draft, publishes ? 'published' : 'draft')
  if (!body) throw new Error('A price is missing.')
  return ask('POST', '/api/v2/products', { params: {}, body, idempotencyKey: once(body) })
}

function SectionList() {
  const goTo = (id: string) => {
    const heading = document.getElementById(id)
    heading?.scrollIntoView({ block: 'start' })
    heading?.focus({ preventScroll: true })
  }
  return (
    <nav className="product-sections" aria-label="Sections">
      {sections.map(([id, title]) => (
        <button key={id} type="button" onClick={() => goTo(id)}>
          {title}
        </button>
      ))}
    </nav>
  )
}

function Section({
  of: [id, title, fields],
  conflicts,
  children,
}: {
  of: (typeof sections)[number]
  conflicts: Conflicts
  children: ReactNode
}) {
  return (
    <section className="card stack" aria-labelledby={id}>
      <h2 id={id} tabIndex={-1}>
        {title}
      </h2>
      {fields.some((name) => conflicts.includes(name)) && (
        <p className="notice" role="status">
          Another operator changed what you are changing here. Saving replaces their change.
        </p>
      )}
      {children}
    </section>
  )
}
