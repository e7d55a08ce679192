"""The HTTP face: what lies between a socket and `ApiServer.handle`.

`asgi` is the application: it turns requests into operations and answers into responses, with `auth` (who asks), `deadlines` (how long it
may take) and `rendering` (in what form the answer is; `as_yaml` is one). `serving` listens, with `tls`, over `protocol`; `request_log`
writes what happened.
How clients find it all is in `kubeconfig`, and stays what it was in `access`. Nothing in here knows what is asked.
"""
