import { loadedLater } from '../components/loaded-later.tsx'

// What is not visible when the list of flows or a flow opens. Its code loads after them.

export const CreateFlowDialog = loadedLater(async () => (await import('./create-flow-dialog.tsx')).CreateFlowDialog)
export const ConflictDialog = loadedLater(async () => (await import('./conflict/conflict-dialog.tsx')).ConflictDialog)
export const FlowTools = loadedLater(async () => (await import('./header/flow-tools.tsx')).FlowTools)
export const McpDialog = loadedLater(async () => (await import('./mcp/mcp-dialog.tsx')).McpDialog)
export const RunPanel = loadedLater(async () => (await import('./run/run-panel.tsx')).RunPanel)
export const ExecutionsPanel = loadedLater(async () => (await import('./drawer/executions-panel.tsx')).ExecutionsPanel)
export const JsonPanel = loadedLater(async () => (await import('./drawer/json-panel.tsx')).JsonPanel)
export const RevisionsPanel = loadedLater(async () => (await import('./drawer/revisions-panel.tsx')).RevisionsPanel)
export const EdgeRecordView = loadedLater(async () => (await import('./run/record-views.tsx')).EdgeRecordView)
export const NodeRecordView = loadedLater(async () => (await import('./run/record-views.tsx')).NodeRecordView)
export const NodeForm = loadedLater(async () => (await import('./inspector/node-form.tsx')).NodeForm)
export const SearchDialog = loadedLater(async () => (await import('./canvas/search-dialog.tsx')).SearchDialog)
export const ContractForm = loadedLater(async () => (await import('./inspector/contract-form.tsx')).ContractForm)
export const ExecutionBanner = loadedLater(async () => (await import('./run/execution-banner.tsx')).ExecutionBanner)
export const CanvasMenu = loadedLater(async () => (await import('./canvas/canvas-menu.tsx')).CanvasMenu)
