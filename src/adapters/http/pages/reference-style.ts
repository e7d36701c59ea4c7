/**
 * The style of the reference. What the library's own says lies in a layer below all other rules: it
 * says where things are, and the pages' style and the rules here say how they look.
 */
export function referenceStyle(library: string): string {
  return `@layer library { ${library.replaceAll('!important', '')} }${style}`;
}

const style = `
.reference .lead { margin-bottom: .6rem }
:where(#docs) *, :where(#docs) ::after { color: inherit; font-family: inherit; background-color: transparent;
  border-color: var(--line); box-shadow: none; text-shadow: none; fill: currentColor }
:where(#docs) button:not(.btn) { background: none; border: 0; padding: 0; font-weight: inherit; text-align: left }
#docs :is(code, pre, textarea, .opblock-summary-path, .parameter__name) { font-family: var(--mono) } #docs .nostyle { color: inherit; text-decoration: none }
#docs :is(p:empty, .view-line-link, .response-col_links, .response-controls, .responses-table thead, .parameters thead, .parameter__deprecated, .response-undocumented, .json-schema-2020-12-expand-deep-button,
  .parameter__name span, .tab-item ::after, .execute-wrapper:not(:has(*)), .parameters-col_description :disabled) { display: none }
#docs :is(table, .block, .wrapper, .table-container, .tab-item) { max-width: none; padding: 0 } #docs p { margin: 0 0 .25rem; font-size: .95rem }
#docs .opblock-tag { font-size: 1.3rem; flex-wrap: wrap; padding: 1.2rem 0 .5rem; margin: 0; border: 0 }
#docs .opblock-tag small { flex: 1 0 100%; order: 1; padding: 0 } #docs .expand-operation { margin-left: auto } #docs .models-control { display: flex; justify-content: space-between }
#docs .auth-wrapper { justify-content: start; margin-top: .6rem } #docs .authorize { margin: 0 } #docs :is(h3, h4, h5) { margin: 0 }

#docs .opblock { background: var(--raised); border: 1px solid var(--line); border-radius: 10px; margin: 0 0 .5rem }
#docs .opblock-summary { padding: .35rem .8rem .35rem .35rem; gap: .6rem } #docs .opblock:not(.is-open) .opblock-summary { border: 0 } #docs .opblock-summary-control { display: flex; flex: 1; align-items: center }
#docs .opblock-summary-path { font-size: .92rem } #docs .opblock-summary-description { color: var(--soft); font-size: .92rem }
#docs .opblock-summary-method { color: #fff; border-radius: 6px; min-width: 4.6rem; padding: .35rem 0; font-size: .8rem }
#docs .opblock-get .opblock-summary-method { background: #1d5fb8 } #docs .opblock-post .opblock-summary-method { background: #0d6b43 }
#docs .opblock-put .opblock-summary-method { background: #8a5200 } #docs .opblock-patch .opblock-summary-method { background: #6b3fa0 }
#docs .opblock-delete .opblock-summary-method { background: #b3122d }
#docs :is(.opblock-description-wrapper, .parameters-container, .responses-inner) { margin: 0; padding: .2rem 1rem .6rem } #docs .opblock-body > .opblock-description-wrapper { padding-top: .6rem }
#docs .opblock-section-header { padding: .2rem 1rem; min-height: 2.5rem; border-top: 1px solid var(--line) }
#docs .opblock-section-header { flex-wrap: wrap } #docs .opblock-section-header h4 { flex: 1 0 auto; font: 600 .92rem system-ui, sans-serif }
#docs select { appearance: auto }

#docs :is(.parameters, .responses-table) { table-layout: fixed }
#docs :is(.parameters, .responses-table) td { padding: .3rem 0; margin: 0; border: 0; width: auto; max-width: none; min-width: 0 }
#docs :is(.parameters, .responses-table) tr + tr > td { border-top: 1px solid var(--line) }
#docs .parameters tr:has(details:not([open])) ~ tr { display: none }
#docs .parameters .parameters-col_name { width: 16.5rem; padding-right: 1rem } #docs .parameters-col_name > div { display: inline; padding: 0; margin: 0 .35rem 0 0 }
#docs .parameter__name { font-size: .85rem; font-weight: 600 } #docs :is(.parameter__type, .parameter__in) { font-size: .82rem; font-weight: 400; font-style: normal; color: var(--soft) }
#docs .parameters-col_description :is(.renderedMarkdown, p) { display: inline; margin-right: .25em }
#docs .parameters-col_description :is(input, select) { display: block; margin: .3rem 0; max-width: 22rem }
#docs .required::after { color: var(--bad); position: static; font-size: .75rem }
#docs .responses-table .response-col_status { width: 4rem; font-size: .92rem; font-weight: 600 }
#docs .model-example { margin: 0 } #docs .tab { margin: .2rem 0 } #docs .tab li { color: var(--soft); font-size: .85rem } #docs .tab .active { color: var(--ink) }
#docs pre { background: var(--ground) !important; color: var(--ink) !important; max-height: 16rem; overflow: auto; padding: .6rem .8rem !important;
  margin: .3rem 0; font-size: .8rem; font-weight: 400 } #docs pre code { background: none; padding: 0; font-size: 1em; font-weight: 400; white-space: pre }
#docs :not(pre) > code { font-weight: 400; font-size: .85em } #docs .microlight span[style] { color: var(--good) !important } #docs .hljs-attr { color: var(--accent) !important }

#docs :is(summary, .copy) { cursor: pointer; color: var(--accent); font-size: .9rem; width: fit-content } #docs details ul { margin: .3rem 0; font-size: .92rem }
#docs .renderedMarkdown:has(> details ~ details) { display: flex; flex-wrap: wrap; gap: 0 1.2rem } #docs .renderedMarkdown:has(> details ~ details) > p { flex: 1 0 100% }
#docs details ~ details, #docs details:has(~ details) { display: contents } #docs details::details-content { order: 1; flex: 1 0 100%; min-width: 0 }
#docs :is(input, select, textarea) { background: var(--ground); font-weight: 400; border: 1px solid var(--line); border-radius: 8px; padding: .35rem .6rem; font-size: .9rem }
#docs .json-schema-2020-12 * { font-size: .85rem } #docs .json-schema-2020-12-keyword, #docs .json-schema-2020-12__attribute, #docs .json-schema-2020-12__constraint { color: var(--soft); font-weight: 400 }
#docs .btn { border: 1px solid var(--line); border-radius: 8px; padding: .35rem .9rem; font-size: .9rem } #docs .btn-group { padding: 0 1rem .6rem; gap: .5rem } #docs .btn:hover { border-color: var(--accent) }
#docs :is(.authorize, .execute) { background: var(--accent); color: var(--on-accent) }
#docs .modal-ux { background: var(--raised); border-radius: 12px } #docs .close-modal { padding: 0 1rem } #docs .backdrop-ux { background: #0009 } @media (max-width: 40rem) {
  #docs p, #docs .opblock-summary-description { font-size: .9rem } #docs pre { max-height: 12rem } #docs .opblock-section-header > label { margin: 0 0 .3rem }
  #docs :is(.parameters, .responses-table), #docs :is(.parameters, .responses-table) :is(tbody, tr, td) { display: block } #docs :is(.parameters-col_name, .response-col_status) { width: auto !important; padding-bottom: 0 !important }
  #docs :is(.parameters-col_description, .response-col_description) { border: 0 !important; padding-top: 0 !important }
}
`;
