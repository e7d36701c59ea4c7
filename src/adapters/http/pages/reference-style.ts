/** What the reference has beside its library's style: the look of the other pages, and less height. */
export const referenceStyle = `
.swagger-ui, .swagger-ui .info .title, .swagger-ui .opblock-tag, .swagger-ui .opblock .opblock-summary-description,
.swagger-ui .opblock-description-wrapper p, .swagger-ui .response-col_status, .swagger-ui .response-col_links,
.swagger-ui table thead tr td, .swagger-ui table thead tr th, .swagger-ui .parameter__name, .swagger-ui .parameter__type,
.swagger-ui .info p, .swagger-ui .info li, .swagger-ui .info td, .swagger-ui .info th, .swagger-ui .markdown p, .swagger-ui .tab li,
.swagger-ui .opblock-tag small, .swagger-ui .opblock .opblock-section-header h4, .swagger-ui label,
.swagger-ui .opblock .opblock-summary-path, .swagger-ui section.models h4, .swagger-ui .renderedMarkdown p
  { color: var(--ink); font-family: inherit }
.swagger-ui code, .swagger-ui pre, .swagger-ui .opblock .opblock-summary-path { font-family: var(--mono); word-break: normal }
.swagger-ui .info { margin: 1rem 0 } .swagger-ui .info .title small { display: none } .swagger-ui .info .main .link { display: none }
.swagger-ui .wrapper { max-width: none; padding: 0 } #docs { max-width: 66rem; margin: 0 auto; padding: 1.5rem clamp(1rem, 4vw, 2rem) 4rem }
.swagger-ui .opblock-summary .copy-to-clipboard, .swagger-ui .opblock-summary .view-line-link, .swagger-ui .servers, .swagger-ui .servers-title { display: none }
.swagger-ui .scheme-container { background: none; box-shadow: none; padding: 0 0 1rem; margin: 0 }
.swagger-ui .opblock-tag { border-color: var(--line); font-size: 1.35rem; flex-wrap: wrap } .swagger-ui .opblock-tag small { flex: 1 1 100%; order: 3; padding: 0 }
.swagger-ui .opblock { background: var(--raised) !important; border: 1px solid var(--line) !important; border-radius: 10px; box-shadow: none; margin: 0 0 .6rem }
.swagger-ui .opblock .opblock-summary { border-color: var(--line) !important } .swagger-ui .opblock .opblock-summary-method { border-radius: 6px; text-shadow: none; color: #fff; min-width: 5rem }
.swagger-ui .opblock.opblock-get .opblock-summary-method { background: #1d5fb8 } .swagger-ui .opblock.opblock-post .opblock-summary-method { background: #0d6b43 }
.swagger-ui .opblock.opblock-put .opblock-summary-method { background: #8a5200 } .swagger-ui .opblock.opblock-patch .opblock-summary-method { background: #6b3fa0 }
.swagger-ui .opblock.opblock-delete .opblock-summary-method { background: #b3122d }
.swagger-ui .opblock .opblock-section-header { background: none; box-shadow: none; min-height: 0; padding: .3rem 1.2rem; border-top: 1px solid var(--line) }
.swagger-ui .opblock-description-wrapper { padding: .6rem 1.2rem; margin: 0 } .swagger-ui .responses-inner { padding: .2rem 1.2rem .8rem; overflow-x: auto }
.swagger-ui .opblock-section .parameters-container, .swagger-ui .table-container { padding: 0 1.2rem .4rem }
.swagger-ui table { background: none } .swagger-ui .parameters td, .swagger-ui .responses-table td { padding: .3rem .6rem .3rem 0 !important; border-bottom: 1px solid var(--line) }
.swagger-ui .parameters-col_name, .swagger-ui .col_header { width: 13rem; min-width: 9rem } .swagger-ui .parameter__name { font-size: .95rem; font-weight: 600 }
.swagger-ui .parameter__type, .swagger-ui .parameter__in { display: inline; padding: 0; margin: 0 .4rem 0 0 } .swagger-ui .parameter__name + .parameter__type { margin-left: .4rem } .swagger-ui .parameter__name { margin: 0 }
.swagger-ui .parameters-col_description input[disabled], .swagger-ui .parameters-col_description select[disabled],
.swagger-ui .parameters-col_description textarea[disabled], .swagger-ui .parameters-col_description .json-schema-array,
.swagger-ui .parameters-col_description button[disabled] { display: none }
.swagger-ui .parameters-col_description:has(input:not([disabled])) .json-schema-array { display: block }
.swagger-ui .markdown p, .swagger-ui .renderedMarkdown p { margin: 0 0 .25rem; font-size: .95rem }
.swagger-ui .response-col_links, .swagger-ui .response-control-media-type { display: none } .swagger-ui .response-col_status { min-width: 4rem; font-weight: 600 }
.swagger-ui .responses-table .headerline, .swagger-ui .response-col_description h5, .swagger-ui .response-col_description .headers { display: none }
.swagger-ui .model-example { margin-top: .3rem } .swagger-ui .highlight-code > .microlight, .swagger-ui .markdown pre { max-height: 16rem; overflow: auto;
  background: #14161f !important; color: #e7e9f0; border-radius: 8px; padding: .7rem .9rem; margin: .3rem 0 }
.swagger-ui .markdown pre > code { color: inherit; background: none; padding: 0 } .swagger-ui .markdown code { color: var(--accent); background: var(--tint) }
.swagger-ui .opblock-body details { display: inline-block; margin: .2rem 1rem .2rem 0; vertical-align: top } .swagger-ui .opblock-body details[open] { display: block }
.swagger-ui .opblock-body summary { cursor: pointer; font-weight: 600; font-size: .9rem; color: var(--accent) }
.swagger-ui .info table td, .swagger-ui .info table th { padding: .3rem .8rem .3rem 0; border-bottom: 1px solid var(--line) }
.swagger-ui a, .swagger-ui .info a, .swagger-ui .markdown a { color: var(--accent); overflow-wrap: anywhere }
.swagger-ui .btn { color: var(--ink); border-color: var(--line); box-shadow: none; border-radius: 8px; font-family: inherit }
.swagger-ui .btn.authorize, .swagger-ui .btn.execute { color: var(--on-accent); background: var(--accent) } .swagger-ui .btn.authorize svg { fill: var(--on-accent) }
.swagger-ui svg { fill: var(--soft) } .swagger-ui select, .swagger-ui input, .swagger-ui textarea { background: var(--raised) !important; color: var(--ink) !important; border: 1px solid var(--soft) !important }
.swagger-ui .markdown code, .swagger-ui .info code, .swagger-ui .renderedMarkdown code { color: var(--accent) !important; background: var(--tint) !important; font-weight: 500; font-size: .88rem }
.swagger-ui .info table td { vertical-align: baseline; font-size: .92rem } .swagger-ui .info__license, .swagger-ui .info__contact { display: none }
.swagger-ui .block.col-12 { padding: 0 } .swagger-ui .scheme-container:not(:has(.auth-wrapper)) { display: none } .swagger-ui .opblock-tag { padding: .6rem 0 }
.dark-mode .swagger-ui .opblock .opblock-section-header, .dark-mode .swagger-ui .scheme-container { background: none !important }
.swagger-ui .opblock .tab-header .tab-item.active h4 span::after { background: var(--accent) }
.swagger-ui { color: var(--ink) } @media (max-width: 40rem) { .swagger-ui .opblock .opblock-section-header { flex-wrap: wrap } .swagger-ui .opblock .opblock-section-header h4 { flex: 1 0 auto } .swagger-ui .parameters tr, .swagger-ui .parameters td { display: block; width: auto } .swagger-ui .parameters thead { display: none }
  .swagger-ui .parameters td { border: 0; padding: 0 !important } .swagger-ui .parameters tr { border-bottom: 1px solid var(--line); padding: .35rem 0 }
  .swagger-ui .parameter__name, .swagger-ui .parameter__type, .swagger-ui .parameter__in { display: inline } .swagger-ui .opblock .opblock-summary-description { font-size: .8rem } }
.swagger-ui section.models { border-color: var(--line) }
.swagger-ui .parameter__in, .swagger-ui .parameter__type, .swagger-ui .prop-format, .swagger-ui .tab li, .swagger-ui .response-undocumented { color: var(--soft) !important }
.swagger-ui .parameter__name.required::after, .swagger-ui .parameter__name.required span, .swagger-ui label.required::after, .swagger-ui .opblock-section-request-body h4 small { color: var(--bad) !important }
`;
