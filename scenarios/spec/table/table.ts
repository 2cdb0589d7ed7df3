import type { Table } from '../check-table.ts'
import { whatTheServiceDoes } from './1-what-the-service-does.ts'
import { resources } from './2-resources.ts'
import { states } from './3-states.ts'
import { models } from './4-1-models.ts'
import { chatCompletions } from './4-2-chat-completions.ts'
import { invoking } from './4-3-invoking.ts'
import { mcp } from './4-4-mcp.ts'
import { selectorAndRotation } from './4-5-selector-and-rotation.ts'
import { authentication } from './5-authentication.ts'
import { events } from './6-events.ts'
import { errors } from './7-errors.ts'
import { limits } from './8-limits.ts'
import { versioning } from './9-versioning.ts'

/** Every statement of the specification (docs/specification.md), a file for each of its sections. */
export const table: Table = {
  ...whatTheServiceDoes,
  ...resources,
  ...states,
  ...models,
  ...chatCompletions,
  ...invoking,
  ...mcp,
  ...selectorAndRotation,
  ...authentication,
  ...events,
  ...errors,
  ...limits,
  ...versioning,
}
