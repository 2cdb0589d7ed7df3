import { useRef, type KeyboardEvent, type PointerEvent } from 'react'
import type { ProviderHealth } from '@gateway/api/console/provider-health'
import { announceQuietly } from '../frame/announcer.ts'
import { ComboField } from '../components/combo-field.tsx'
import { Icon } from '../components/icon.tsx'
import { IconButton } from '../components/icon-button.tsx'
import { Badge } from '../components/values.tsx'
import { marginsOf, marginText } from './margin.ts'
import { PriceInputs, ProductField, type ProductFieldsProps } from './price-fields.tsx'
import { costOf, emptyPrices, emptyRoute, pricingOf, type ProviderRoute } from './product-draft.ts'
import { providerState } from './provider-labels.ts'
import { movedRoutes } from './provider-order.ts'
import { useDragOrder } from './use-drag-order.ts'

interface RoutesProps extends ProductFieldsProps {
  isTried: boolean
  /** Providers that are configured or were called; undefined until they are read. */
  known: readonly ProviderHealth[] | undefined
}

/** Providers that serve a product, in the order they are tried. Rows are reordered by drag, by buttons or by Alt+Arrow. */
export function ProviderRoutes({ known, ...props }: RoutesProps) {
  const { draft, onChange } = props
  const { providers } = draft
  const list = useRef<HTMLOListElement>(null)
  const move = (from: number, to: number) => {
    if (to < 0 || to >= providers.length) return
    const name = providers[from]!.provider || `Provider ${from + 1}`
    onChange({ providers: movedRoutes(providers, from, to) })
    announceQuietly(`${name} moved to position ${to + 1} of ${providers.length}.`)
  }
  const { dragged, preview, begin } = useDragOrder(list, move)
  const add = () => {
    const route = emptyRoute(draft.kind, providers)
    onChange({ providers: [...providers, { ...route, cost: { ...route.cost, unit: draft.unit } }] })
  }
  const isShared = new Set(providers.map(({ priority }) => priority)).size < providers.length
  return (
    <>
      <p className="soft small">
        Calls go to the first provider and fall back to the next one on failure. Drag a row, or press Alt+↑ or Alt+↓ in
        it.
        {isShared && ' Rows that share a priority are tried in this order; reordering numbers them.'}
      </p>
      <ol ref={list} className="routes">
        {preview(providers).map(({ item, at }, place) => (
          <ProviderRow
            key={item.key}
            {...props}
            route={item}
            at={at}
            place={place}
            known={known}
            isDragged={dragged === at}
            onGrab={begin(at)}
            onMove={(by) => move(at, at + by)}
          />
        ))}
      </ol>
      <div className="buttons">
        <button type="button" className="button small" disabled={providers.length === 16} onClick={add}>
          Add provider
        </button>
      </div>
    </>
  )
}

function ProviderRow({
  route,
  at,
  place,
  known,
  isDragged,
  onGrab,
  onMove,
  ...props
}: RoutesProps & {
  route: ProviderRoute
  at: number
  place: number
  isDragged: boolean
  onGrab: (event: PointerEvent) => void
  onMove: (by: number) => void
}) {
  const { draft, faultOf, onChange } = props
  const { providers } = draft
  const change = (part: Partial<ProviderRoute>) =>
    onChange({ providers: providers.map((each, n) => (n === at ? { ...each, ...part } : each)) })
  const onKeyDown = (event: KeyboardEvent) => {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key]
    if (!event.altKey || by === undefined) return
    event.preventDefault()
    event.stopPropagation() // would open the list of providers
    onMove(by)
  }
  const configured = (known ?? []).filter(({ processes }) => processes.length > 0)
  return (
    <li>
      <div
        className={`route ${isDragged ? 'dragged' : ''}`}
        role="group"
        aria-label={`Provider ${place + 1}`}
        onKeyDownCapture={onKeyDown}
      >
        <div className="route-side">
          <span className="route-handle" title="Drag to reorder" aria-hidden="true" onPointerDown={onGrab}>
            <Icon name="handle" />
          </span>
          <span className="route-place figure" title={`Priority ${route.priority}`}>
            {place + 1}
          </span>
        </div>
        <div className="route-body">
          <div className="route-fields">
            <ComboField
              label="Provider"
              required
              value={route.provider}
              fault={faultOf(`providers.${at}.provider`)}
              options={configured.map((each) => ({
                value: each.provider,
                ...(each.kind !== null && { detail: each.kind }),
                mark: <Badge {...providerState(each)} />,
              }))}
              onChange={(provider) => change({ provider })}
            />
            <ProductField
              label="Provider model"
              value={route.model}
              fault={faultOf(`providers.${at}.model`)}
              onChange={(model) => change({ model })}
            />
          </div>
          <RouteState name={route.provider} known={known} />
          <CostFields {...props} route={route} at={at} onChangeRoute={change} />
        </div>
        <div className="route-actions">
          <IconButton
            icon="up"
            className="small"
            label={`Move provider ${place + 1} up`}
            aria-disabled={place === 0}
            onClick={() => onMove(-1)}
          />
          <IconButton
            icon="down"
            className="small"
            label={`Move provider ${place + 1} down`}
            aria-disabled={place === providers.length - 1} // keeps the focus
            onClick={() => onMove(1)}
          />
          <IconButton
            icon="close"
            className="small"
            label={`Remove provider ${place + 1}`}
            disabled={providers.length === 1}
            onClick={() => onChange({ providers: providers.filter((_, n) => n !== at) })}
          />
        </div>
      </div>
    </li>
  )
}

/** How the provider of a row is doing, or that no running process has it. */
function RouteState({ name, known }: { name: string; known: readonly ProviderHealth[] | undefined }) {
  if (name === '' || known === undefined) return null
  const found = known.find(({ provider }) => provider === name)
  if (!found || found.processes.length === 0)
    return <p className="notice small">No running process has {name} configured: it can't be called.</p>
  const hasNone = found.processes.every(({ credential }) => credential === 'none')
  return (
    <p className="route-state">
      <Badge {...providerState(found)} />
      {hasNone && <Badge tone="warn" text="No credential" />}
    </p>
  )
}

/** What the provider of a row charges, and what remains of the price. */
function CostFields({
  draft,
  route,
  at,
  isTried,
  faultOf,
  onChangeRoute,
}: Omit<RoutesProps, 'known'> & {
  route: ProviderRoute
  at: number
  onChangeRoute: (part: Partial<ProviderRoute>) => void
}) {
  const { kind } = draft
  const [cost, pricing] = [costOf(kind, route.cost), pricingOf(draft.kind, draft)]
  const margins = pricing && cost ? marginsOf(pricing, cost).filter(({ share }) => share !== null) : []
  const isBelowCost = margins.some(({ share }) => share! < 0)
  const name = (field: string) => faultOf(`providers.${at}.cost.${field}`)
  const isFaulty = (isTried && cost === null) || Object.keys(emptyPrices(kind)).some((field) => name(field) !== null)
  return (
    <details className="route-cost" {...(isFaulty && { open: true })}>
      <summary>
        Provider cost{' '}
        <span className="soft small figure">
          {cost ? margins.map(marginText).join(', ') : cost === null ? 'incomplete' : 'not recorded'}
        </span>{' '}
        {isBelowCost && <Badge tone="warn" text="Price below cost" />}
      </summary>
      <div className="stack">
        <p className="soft small">
          What this provider charges you, for the margin in the revenue report. It changes no charge and only operators
          see it.
        </p>
        <PriceInputs
          kind={kind}
          prices={route.cost}
          isCost
          isTried={isTried}
          faultOf={name}
          onChange={(part) => onChangeRoute({ cost: { ...route.cost, ...part } })}
        />
      </div>
    </details>
  )
}
