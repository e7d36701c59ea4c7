"""What schemathesis is not to take for a fault: what depends on what is stored."""

import schemathesis

# Schemas cannot express which cursors, versions, keys, positions and authors exist, or which id a path has. The
# rules of JSON values at any depth are told in words, because generators of clients read no recursive schemas.
BY_CODE = {"invalid-cursor", "version-mismatch", "idempotency-key-reused", "events-expired"}
BY_FIELD = {"unknown", "mismatch", "key", "number-range", "too-deep", "too-large"}


@schemathesis.hook
def map_case(context, case):
    """Leaves out what no generator guesses, so that most requests get past it."""
    if case.meta is not None and case.meta.generation.mode.is_positive:
        # Its own value for If-None-Match is 0, which does not match the pattern.
        tags = ((case.headers, "If-Match"), (case.headers, "If-None-Match"))
        for values, name in (*tags, (case.query, "cursor")):
            if values:
                values.pop(name, None)
    return case


def is_no_name(name):
    """Whether no field of a record can have this name."""
    is_clean = all(c != "\0" and not "\ud800" <= c <= "\udfff" for c in name)
    return not is_clean or not 1 <= len(name) <= 64 or name == "__proto__"


def values_without_name(value):
    """The values of such names in a patch, at any depth."""
    if isinstance(value, dict):
        for name, member in value.items():
            if is_no_name(name):
                yield member
            yield from values_without_name(member)


def removes_nothing(case):
    """Whether a patch has such names, and a null for each: to remove what cannot be there is no error
    (RFC 7396), and no schema says that of a name and its value together."""
    found = list(values_without_name(case.body)) if case.method.upper() == "PATCH" else []
    return found != [] and all(value is None for value in found)


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """Keeps a failure, unless what is stored explains the response."""
    kind = type(failure).__name__
    if response.headers.get("preference-applied", [""])[0] == "return=minimal":
        # A response without a body, which a schema cannot tie to a header of the request.
        return kind not in {"MalformedJson", "MissingContentType"}
    if not response.headers.get("content-type", [""])[0].startswith("application/problem+json"):
        return kind != "AcceptedNegativeData" or not removes_nothing(case)
    problem = response.json()
    if kind == "AcceptedNegativeData":
        # The version is checked before the body. 414 also counts as a rejection, although it is not in the list.
        return problem["code"] not in {"version-mismatch", "uri-too-long"}
    if kind != "RejectedPositiveData":
        return True
    errors = problem.get("errors", [])
    fields = {entry["code"] for entry in errors}
    if problem["code"] == "invalid-query" and any('with "include"' in e["message"] for e in errors):
        return False  # A limit that depends on another parameter.
    is_by_field = problem["code"] == "invalid-record" and fields <= BY_FIELD
    return problem["code"] not in BY_CODE and not is_by_field
