import { createBrowserHistory, createMemoryHistory } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { test } from 'vitest'
import { page, type Locator } from 'vitest/browser'
import { cleanup, render } from 'vitest-browser-react/pure'
import { z } from 'zod'
import type { AnswerOf, ApiRoute, BodyOf } from '@gateway/api/api-route'
import { consoleRoutes, type ConsoleRoutes } from '@gateway/api/console-routes'
import { exampleIds } from '@gateway/api/example-ids'
import { exampleOf } from '@gateway/api/openapi-document'
import { Refusal } from '@gateway/api/refusal'
import { openQueryClient } from './api/query-client.ts'
import { ConsoleApp } from './console-app.tsx'
import { openRouter } from './router.tsx'

// Component tests of the page. Everything is the real page; only the service on the other side of `fetch` is canned.

/** Address of the project that the examples of the contract are about, and whose owner is signed in. */
export const project = `/projects/${exampleIds.tenant}/${exampleIds.project}`

type Operation = keyof ConsoleRoutes
type Answer<O extends Operation> = AnswerOf<ConsoleRoutes[O]>
type Given<O extends Operation> = Answer<O> | Refusal | Promise<Answer<O>>

/**
 * The API at the edge of the network: each operation answers with the example of its contract, until a test gives it
 * another answer.
 */
function openCannedApi() {
  const given = new Map<string, (body: never) => unknown>()
  const asked: { operation: Operation; path: string; query: Record<string, string>; body: unknown }[] = []
  const { fetch } = globalThis
  globalThis.fetch = async (input, init) => {
    const method = init?.method ?? 'GET'
    const { pathname, searchParams } = new URL(input instanceof Request ? input.url : input, location.href)
    if (!pathname.startsWith('/api/')) return fetch(input, init)
    const operation = operationAt(method, pathname)
    const body: unknown = typeof init?.body === 'string' ? JSON.parse(init.body) : undefined
    asked.push({ operation, path: pathname, query: Object.fromEntries(searchParams), body })
    const answer = given.get(operation) ?? (() => contractExample(operation))
    return response(await answer(body as never), consoleRoutes[operation])
  }
  return {
    /** Sets the answer of an operation, or what makes it from the body of the request. */
    answer<O extends Operation>(operation: O, answer: Given<O> | ((body: BodyOf<ConsoleRoutes[O]>) => Given<O>)): void {
      given.set(operation, typeof answer === 'function' ? (answer as (body: never) => unknown) : () => answer)
    },
    /** The requests of an operation so far, oldest first. */
    asked<O extends Operation>(operation: O) {
      return asked.filter((each) => each.operation === operation) as {
        path: string
        query: Record<string, string>
        body: BodyOf<ConsoleRoutes[O]>
      }[]
    },
    close: () => void (globalThis.fetch = fetch),
  }
}

function operationAt(method: string, pathname: string): Operation {
  const [found] = Object.entries(consoleRoutes as Record<string, ApiRoute>).filter(
    ([, row]) => row.method === method && new RegExp(`^${row.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(pathname),
  )
  if (!found) throw new Error(`The contract has no ${method} ${pathname}.`)
  return found[0] as Operation
}

function response(answer: unknown, { answers }: ApiRoute): Response {
  if (answer instanceof Refusal)
    return Response.json({ error: answer.body }, { status: answer.status, headers: answer.headers })
  return answer === undefined
    ? new Response(null, { status: 204 })
    : Response.json(answer, { status: Number(Object.keys(answers)[0]) })
}

/** The answer of an operation as its contract shows it. */
export function contractExample<O extends Operation>(operation: O): Answer<O> {
  const { answers, example }: ApiRoute = consoleRoutes[operation]
  const body = Object.values(answers)[0]?.body
  return (example?.answer ?? (body && exampleOf(z.toJSONSchema(body, { unrepresentable: 'any' })))) as Answer<O>
}

/**
 * `test` with the canned API, `show`, which renders an element, and `open`, which shows the console at an address; with
 * `hasBack`, in the history of the browser.
 */
export const pageTest = test
  // oxlint-disable-next-line no-empty-pattern -- vitest reads from the pattern what a fixture needs
  .extend('api', ({}, { onCleanup }) => {
    const api = openCannedApi()
    onCleanup(api.close)
    return api
  })
  .extend('show', ({ api: _ }, { onCleanup }) => {
    onCleanup(async () => {
      await cleanup()
      localStorage.clear()
      sessionStorage.clear()
    })
    return (element: ReactNode) => render(element)
  })
  .extend('open', ({ show }, { onCleanup }) => async (address: string, { hasBack = false } = {}) => {
    const router = openRouter(hasBack ? browserHistory(address, onCleanup) : memoryHistory(address))
    const screen = await show(<ConsoleApp router={router} client={openQueryClient()} />)
    return {
      screen,
      address: () => router.state.location,
      goBack: () => router.history.back(),
      goTo: (href: string) => router.navigate({ href }),
    }
  })

/** Lets the page start an execution. @returns function that ends it */
export function openCannedExecution(api: ReturnType<typeof openCannedApi>) {
  const ended = Promise.withResolvers<object>()
  const execution = contractExample('readExecution')
  const first = { kind: 'admitted', seq: 0, executionId: execution.id, revision: 1, at: execution.createdAt }
  // The contract types the record, and the page asks for lines.
  for (const start of ['executeSandbox', 'rerunExecution'] as const) api.answer(start, first as never)
  api.answer('followExecution', ended.promise as never)
  return (part: Partial<typeof execution> = {}) =>
    ended.resolve({ kind: 'complete', seq: 1, execution: { ...execution, ...part } })
}

const memoryHistory = (address: string) => createMemoryHistory({ initialEntries: [address] })

/** History of the browser. Unlike the one in memory, it lets a screen ask before it goes back. */
function browserHistory(address: string, onCleanup: (work: () => void) => void) {
  const { href } = location
  window.history.pushState(null, '', address)
  const history = createBrowserHistory()
  onCleanup(() => {
    history.destroy()
    window.history.replaceState(null, '', href)
  })
  return history
}

/** Goes back, and waits until the browser has. */
export async function goBackNow(goBack: () => void): Promise<void> {
  const popped = Promise.withResolvers<unknown>()
  window.addEventListener('popstate', popped.resolve, { once: true })
  goBack()
  await popped.promise
}

/** Makes the page read again what it shows, as it does when its tab is shown again. */
export function showTabAgain(): void {
  window.dispatchEvent(new Event('visibilitychange'))
}

/** Chooses an option of a select. */
export async function choose(select: Locator, option: string): Promise<void> {
  await select.click()
  await page.getByRole('option', { name: option, exact: true }).click()
}
